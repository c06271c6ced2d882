// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/json.hpp"

namespace ridgeline::store {

/// Json that reads back: JSON has no infinities (stored as the largest double) and no NaN (left out, read as default).
[[nodiscard]] std::string dump_record(base::Json record);

/// The inverse; null members are dropped, so that they read as their defaults.
[[nodiscard]] base::Result<base::Json> parse_record(std::string_view text, std::string_view what);

}  // namespace ridgeline::store
