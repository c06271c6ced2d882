// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "schema/workload_ref.hpp"

namespace ridgeline::app {

/// "NAME:VALUE" or "\"NAME\":VALUE", split at the last colon. Errors (invalid_argument) show `example`.
[[nodiscard]] base::Result<std::pair<std::string, std::string>> name_and_rest(const std::string& text,
                                                                              std::string_view flag,
                                                                              std::string_view example);

/// --input as NAME:FILE.npy or NAME=VALUE, where VALUE is a number, ones, zeros or LOW..HIGH; a name with ":" or "="
/// may be put in quotes. Errors (invalid_argument): neither form, an input given twice.
[[nodiscard]] base::Result<void> read_input_flags(const std::vector<std::string>& texts, schema::WorkloadRef& workload);

}  // namespace ridgeline::app
