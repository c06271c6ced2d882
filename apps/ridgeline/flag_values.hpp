// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.hpp"

// Options with a typed value. A refusal says the flag, the value and what was expected.
namespace ridgeline::app {

inline constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kMostSeed = 9'000'000'000'000'000'000;

/// Of CLI11, for a whole number or (real) any number in that range; for "90s" or "1h30m" as seconds, between two such
/// texts ("": no limit); for "3%" or "0.03" as a plain number, `low` to `high` or (nullopt) below 1.
void check_number(CLI::Option& option, const std::string& flag, std::int64_t low, std::int64_t high);
void check_real(CLI::Option& option, const std::string& flag, double low, double high);
void check_time(CLI::Option& option, const std::string& flag, std::string_view low, std::string_view high);
/// As check_time, of a latency: "60" is refused, as people mean milliseconds by it.
void check_latency(CLI::Option& option, const std::string& flag, std::string_view low, std::string_view high);
void check_share(CLI::Option& option, const std::string& flag, double low, std::optional<double> high);
/// "60s", "5m"; "2%".
[[nodiscard]] std::string time_text(double seconds);
[[nodiscard]] std::string share_text(double share);

template <typename T>
CLI::Option* add_number(CLI::App& command, const std::string& flag, T& value, std::int64_t low, std::int64_t high,
                        const std::string& description) {
  auto* option = command.add_option(flag, value, description)->type_name("N");
  check_number(*option, flag, low, high);
  if constexpr (std::is_integral_v<T>) option->capture_default_str();
  return option;
}

template <typename T>
CLI::Option* add_time(CLI::App& command, const std::string& flag, T& seconds, const std::string& description,
                      std::string_view low = "", std::string_view high = "") {
  auto* option = command.add_option(flag, seconds, description)->type_name("TIME");
  check_time(*option, flag, low, high);
  if constexpr (std::is_same_v<T, double>) option->default_str(time_text(seconds));
  return option;
}

template <typename T>
CLI::Option* add_share(CLI::App& command, const std::string& flag, T& value, const std::string& description,
                       double low = 0, std::optional<double> high = std::nullopt) {
  auto* option = command.add_option(flag, value, description)->type_name("SHARE");
  check_share(*option, flag, low, high);
  if constexpr (std::is_same_v<T, double>) option->default_str(share_text(value));
  return option;
}

/// A share, or a number of 1 and above in the unit of what is compared ("5").
void check_effect(CLI::Option& option, const std::string& flag);

template <typename T>
CLI::Option* add_effect(CLI::App& command, const std::string& flag, T& value, const std::string& description) {
  auto* option = command.add_option(flag, value, description)->type_name("SHARE");
  check_effect(*option, flag);
  if constexpr (std::is_same_v<T, double>) option->default_str(share_text(value));
  return option;
}

/// The values of an option that may be repeated, and whose values may be given between commas. A part that is no value
/// belongs to the one before it: "a=1,2,b=3" is two.
[[nodiscard]] std::vector<std::string> list_values(const std::vector<std::string>& texts,
                                                   const std::function<bool(const std::string&)>& is_value);

/// One value of a list. Errors (invalid_argument) name the flag, the value and the range.
[[nodiscard]] base::Result<std::int64_t> whole_number(const std::string& text, std::string_view flag, std::int64_t low,
                                                      std::int64_t high);

}  // namespace ridgeline::app
