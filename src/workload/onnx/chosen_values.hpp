// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/model_description.hpp"
#include "workload/onnx/onnx_proto.hpp"
#include "workload/onnx/small_tensor.hpp"

namespace ridgeline::workload {

/// Shape sets and the values of the inputs in each.
struct ValueChoice {
  std::vector<schema::ShapeSet> sets;
  std::vector<std::vector<schema::InputValues>> values;  ///< an entry for each set; empty: none has any
  std::vector<std::string> notes;                        ///< what each integer, bool or argument is, and why
};

/// Values of integer, bool and argument inputs: the user's, else what the graph's operators ask for, else what the name
/// says. Where an input decides which branch of an If runs, each branch becomes a shape set of its own, unless the
/// branch refuses the shapes. Errors (invalid_argument): those of read_given_value, an unknown name.
[[nodiscard]] base::Result<ValueChoice> choose_values(const onnx::ModelProto& model,
                                                      const schema::ModelDescription& description,
                                                      const schema::WorkloadRef& asked);

/// "0 or 1": what an integer or bool input without a rule is drawn from; `dims` may be nullptr.
[[nodiscard]] std::string drawn_by_type(const std::string& element_type, const std::vector<std::int64_t>* dims);

/// The short ones of a set that are known one by one, which are arguments, for the inference of shapes.
[[nodiscard]] std::map<std::string, SmallTensor> known_values(const schema::ModelDescription& description,
                                                              const schema::ShapeSet& shapes,
                                                              const std::vector<schema::InputValues>& values);

}  // namespace ridgeline::workload
