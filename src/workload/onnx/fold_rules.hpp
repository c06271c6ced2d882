// SPDX-License-Identifier: Apache-2.0
// What the files that compute nodes beforehand share.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workload/onnx/constant_folder.hpp"

namespace ridgeline::workload {

using FoldInputs = std::vector<FoldInput>;
using FoldRule = std::optional<SmallTensor> (*)(const onnx::NodeProto&, const FoldInputs&);
using FoldRules = std::map<std::string, FoldRule>;

/// By operator: those that calculate with the elements.
[[nodiscard]] const FoldRules& calculating_fold_rules();
/// Those that move them about or change the shape alone.
[[nodiscard]] const FoldRules& layout_fold_rules();

/// nullptr: not known.
[[nodiscard]] const SmallTensor* value_at(const FoldInputs& inputs, std::size_t index);

}  // namespace ridgeline::workload
