// SPDX-License-Identifier: Apache-2.0
#include "schema/version_range.hpp"

#include <array>

#include "base/text.hpp"

namespace ridgeline::schema {
namespace {

std::array<std::int64_t, 3> version_numbers(std::string_view text) {
  std::array<std::int64_t, 3> numbers{};
  std::size_t at = 0;
  for (const auto& part : base::split(text, '.')) {
    if (at == numbers.size()) break;
    // "0-dev" counts as 0: a preview of 1.26.0 has 1.26.0's options.
    const auto digits = part.substr(0, part.find_first_not_of("0123456789"));
    numbers[at++] = base::parse_integer(digits, "version").value_or(0);
  }
  return numbers;
}

}  // namespace

bool in_range(std::string_view version, const VersionRange& range) {
  if (version.empty()) return range.before.empty();
  const auto numbers = version_numbers(version);
  return (range.since.empty() || numbers >= version_numbers(range.since)) &&
         (range.before.empty() || numbers < version_numbers(range.before));
}

}  // namespace ridgeline::schema
