// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ridgeline::trace {

/// Appends a JSON string, quotes included; bytes that are no UTF-8 become U+FFFD.
void append_json(std::string& out, std::string_view text);

/// Appends a whole number.
void append_number(std::string& out, std::int64_t number);

/// Appends nanoseconds as microseconds with three decimals, exactly: "-5.500".
void append_microseconds(std::string& out, std::int64_t nanoseconds);

}  // namespace ridgeline::trace
