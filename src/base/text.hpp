// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::base {

/// The candidate nearest to `word` by edit distance, or "" when none is near enough to be a likely typo
/// (at most a third of the word's length, at least 2).
[[nodiscard]] std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

/// A hint: "did you mean \"x\"?" or "".
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
[[nodiscard]] std::string_view trim(std::string_view text) noexcept;
/// What stands behind the last slash of a path.
[[nodiscard]] std::string_view file_name(std::string_view path) noexcept;

/// Whole-text number parsing: trailing rubbish, overflow, inf and nan are errors naming `what`.
[[nodiscard]] Result<std::int64_t> parse_integer(std::string_view text, std::string_view what);
[[nodiscard]] Result<double> parse_number(std::string_view text, std::string_view what);

/// "90s", "5m", "1h30m", "250ms", "2" (seconds). Must be positive.
[[nodiscard]] Result<std::chrono::nanoseconds> parse_duration(std::string_view text, std::string_view what);

/// "500MB", "2GB", "1.5GiB", always with a unit. Must be positive.
[[nodiscard]] Result<std::int64_t> parse_bytes(std::string_view text, std::string_view what);

/// "2%", "0.02" -> 0.02.
[[nodiscard]] Result<double> parse_ratio(std::string_view text, std::string_view what);

/// Three significant digits with the fitting unit: "812 ns", "1.23 ms", "4.5 s", "2 m 05 s".
[[nodiscard]] std::string format_duration(double nanoseconds);
/// "4.52 MiB".
[[nodiscard]] std::string format_bytes(double bytes);
/// Three significant digits with k/M/G: "1.25 G".
[[nodiscard]] std::string format_count(double value);
/// "a", "a and b", "a, b and c".
[[nodiscard]] std::string listed(const std::vector<std::string>& words);
/// "1 trial", "3 trials", "2 batches".
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);

}  // namespace ridgeline::base
