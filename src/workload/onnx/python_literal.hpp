// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/json.hpp"

namespace ridgeline::workload {

/// What exporters in Python write into a model's metadata: str() of a dict, list, tuple, string, number, True, False or
/// None; JSON is read too. A dict becomes an object whose keys are text, and a tuple an array. nullopt: it is none, or
/// is nested deeper than 16.
[[nodiscard]] std::optional<base::Json> parse_python_literal(std::string_view text);

}  // namespace ridgeline::workload
