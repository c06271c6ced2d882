// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/flag_values.hpp"

#include "base/text.hpp"

namespace ridgeline::app {

using base::ErrorCode;
using base::fail;
using base::Result;

Result<std::int64_t> whole_number(const std::string& text, std::string_view flag, std::int64_t low, std::int64_t high) {
  const auto value = base::parse_integer(text, flag);
  if (!value || *value < low || *value > high)
    return fail(ErrorCode::invalid_argument, "{} {}: expected a whole number from {} to {}", flag, text, low, high);
  return *value;
}

Result<double> share_of_one(const std::string& text, std::string_view flag, std::string_view example) {
  RL_TRY_ASSIGN(const auto value, base::parse_ratio(text, flag));
  if (value < 0 || value >= 1)
    return fail(ErrorCode::invalid_argument, "{} {}: expected a share from 0 to below 1", flag, text)
        .hint("for example {}", example);
  return value;
}

}  // namespace ridgeline::app
