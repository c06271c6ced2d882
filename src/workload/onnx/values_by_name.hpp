// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "schema/input_values.hpp"
#include "schema/model_description.hpp"

namespace ridgeline::workload {

/// What an input's name says where the graph does not: a mask, an index, a length.
[[nodiscard]] std::optional<schema::InputValues> values_by_name(const schema::TensorDescription& input,
                                                                const std::vector<schema::TensorDescription>& inputs,
                                                                const schema::ShapeSet& set);

}  // namespace ridgeline::workload
