// SPDX-License-Identifier: Apache-2.0
#include "execute/arrival_trace.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>

#include "base/text.hpp"

namespace ridgeline::execute {
namespace {

constexpr double kMostSeconds = 366.0 * 86400;

}  // namespace

base::Result<std::vector<std::int64_t>> parse_arrival_trace(std::string_view text, std::string_view file) {
  std::vector<std::int64_t> times;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = base::trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const auto bad = [&](std::string_view expected) {
      return base::fail(base::ErrorCode::invalid_argument, "{}:{}: \"{}\"; expected {}", file, number,
                        line.substr(0, 40), expected);
    };
    double seconds = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), seconds);
    if (error != std::errc() || rest != line.data() + line.size() || !(seconds >= 0 && seconds <= kMostSeconds))
      return bad("a time in seconds since the start");
    const auto at_ns = std::llround(seconds * 1e9);
    if (!times.empty() && at_ns < times.back()) return bad("a time that is not before the one above it");
    times.push_back(at_ns);
  }
  if (times.empty())
    return base::fail(base::ErrorCode::invalid_argument, "{}: no times in it; expected seconds, one a line", file);
  return times;
}

}  // namespace ridgeline::execute
