// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/input_values.hpp"
#include "schema/model_description.hpp"
#include "workload/onnx/input_uses.hpp"

namespace ridgeline::workload {

/// One value that an input takes for the sake of a branch.
struct BranchValue {
  double value = 0;
  std::vector<schema::Message> branches;  ///< that it takes: "the then branch of If "y""
};

/// What the uses of an input come to.
struct ResolvedValues {
  std::optional<schema::InputValues> values;  ///< nullopt: they ask nothing, or what does not go together
  std::vector<BranchValue> alternatives;      ///< more than one: it decides which branch runs
};
[[nodiscard]] ResolvedValues resolve_values(const schema::TensorDescription& input, const schema::ShapeSet& set,
                                            const std::vector<InputUse>& all_uses);

}  // namespace ridgeline::workload
