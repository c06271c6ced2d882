// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
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
  std::vector<schema::Message> notes;                    ///< what each integer, bool or argument is, and why
};

/// Other shapes for the set of that number, whose branch refuses its own with these values; nullopt: none fit.
using RefitShapes =
    std::function<std::optional<schema::ShapeSet>(std::size_t set, const std::map<std::string, SmallTensor>& values)>;

/// Values of integer, bool and argument inputs: the user's, else what the graph's operators ask for, else what the name
/// says. Where an input decides which branch of an If runs, each branch becomes a shape set of its own, with shapes of
/// its own where it refuses the others; it is left out where it refuses all. Errors (invalid_argument): those of
/// read_given_value, an unknown name.
[[nodiscard]] base::Result<ValueChoice> choose_values(const onnx::ModelProto& model,
                                                      const schema::ModelDescription& description,
                                                      const schema::WorkloadRef& asked, const RefitShapes& refit);

}  // namespace ridgeline::workload
