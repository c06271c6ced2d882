// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace ridgeline::app {

/// The value of a flag as typed. Errors (invalid_argument) name the flag, the value and the range.
[[nodiscard]] base::Result<std::int64_t> whole_number(const std::string& text, std::string_view flag, std::int64_t low,
                                                      std::int64_t high);

/// "3%" or "0.03", from 0 to below 1; `example` is shown to whoever typed something else.
[[nodiscard]] base::Result<double> share_of_one(const std::string& text, std::string_view flag,
                                                std::string_view example);

}  // namespace ridgeline::app
