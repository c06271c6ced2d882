// SPDX-License-Identifier: Apache-2.0
#include "trace/import/decimal_time.hpp"

#include <cmath>
#include <cstdlib>
#include <string>

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kMostMicroseconds = std::int64_t{1} << 52;
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "1.5e3", which no profiler is known to write.
std::optional<std::int64_t> with_exponent(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() || !std::isfinite(value) ||
      std::abs(value) > static_cast<double>(kMostMicroseconds))
    return std::nullopt;
  return static_cast<std::int64_t>(std::llround(value * 1e3));
}

}  // namespace

std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds) {
  const auto whole_text = microseconds;
  const bool negative = !microseconds.empty() && microseconds.front() == '-';
  if (negative) microseconds.remove_prefix(1);
  if (microseconds.empty() || !is_digit(microseconds.front())) return std::nullopt;
  std::int64_t whole = 0;
  std::size_t at = 0;
  for (; at < microseconds.size() && is_digit(microseconds[at]); ++at) {
    whole = whole * 10 + (microseconds[at] - '0');
    if (whole > kMostMicroseconds) return std::nullopt;
  }
  std::int64_t part = 0;  // nanoseconds
  bool up = false;
  if (at < microseconds.size() && microseconds[at] == '.') {
    int digits = 0;
    for (++at; at < microseconds.size() && is_digit(microseconds[at]); ++at, ++digits) {
      if (digits < 3) part = part * 10 + (microseconds[at] - '0');
      if (digits == 3) up = microseconds[at] >= '5';
    }
    for (; digits < 3; ++digits) part *= 10;
  }
  if (at < microseconds.size()) return with_exponent(std::string(whole_text));
  const std::int64_t total = whole * 1000 + part + (up ? 1 : 0);
  return negative ? -total : total;
}

}  // namespace ridgeline::trace
