// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schema/model_description.hpp"
#include "workload/onnx/small_tensor.hpp"

namespace ridgeline::workload {

/// nullptr: the set does not name the input.
[[nodiscard]] const std::vector<std::int64_t>* dims_in(const schema::ShapeSet& set, const std::string& name);

/// The size of the first dynamic batch axis; 0: there is none.
[[nodiscard]] std::int64_t batch_of(const std::vector<schema::TensorDescription>& inputs, const schema::ShapeSet& set);

/// "0 or 1": what an integer or bool input without a rule is drawn from; `dims` may be nullptr.
[[nodiscard]] std::string drawn_by_type(const std::string& element_type, const std::vector<std::int64_t>* dims);

/// The short ones of a set that are known one by one, which are arguments, for the inference of shapes.
[[nodiscard]] std::map<std::string, SmallTensor> known_values(const schema::ModelDescription& description,
                                                              const schema::ShapeSet& shapes,
                                                              const std::vector<schema::InputValues>& values);

}  // namespace ridgeline::workload
