// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/flag_values.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace ridgeline::app {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

/// `read` gives the value as CLI11 can read it.
void convert(CLI::Option& option, std::function<Result<std::string>(const std::string&)> read) {
  option.transform(CLI::Validator(
      [read = std::move(read)](std::string& text) -> std::string {
        auto value = read(text);
        // CLI11 would put the flag's name before the text of a ValidationError.
        if (!value) throw CLI::ParseError(value.error().message, CLI::ExitCodes::ValidationError);
        text = *std::move(value);
        return {};
      },
      std::string{}, "value"));
}

}  // namespace

void check_number(CLI::Option& option, const std::string& flag, std::int64_t low, std::int64_t high) {
  convert(option, [flag, low, high](const std::string& text) -> Result<std::string> {
    RL_TRY(whole_number(text, flag, low, high));
    return text;
  });
}

void check_real(CLI::Option& option, const std::string& flag, double low, double high) {
  convert(option, [flag, low, high](const std::string& text) -> Result<std::string> {
    const auto value = base::parse_number(text, flag);
    if (!value || *value < low || *value > high)
      return fail(ErrorCode::invalid_argument, "{} {}: expected a number from {:g} to {:.9g}", flag, text, low, high);
    return text;
  });
}

void check_time(CLI::Option& option, const std::string& flag, std::string_view low, std::string_view high) {
  convert(option, [flag, low, high](const std::string& text) -> Result<std::string> {
    const auto value = base::parse_duration(text, flag);
    const bool fits = value && (low.empty() || *value >= *base::parse_duration(low, flag)) &&
                      (high.empty() || *value <= *base::parse_duration(high, flag));
    if (!fits)
      return fail(ErrorCode::invalid_argument, "{} {}: expected a duration {}, such as 90s, 5m or 1h30m", flag, text,
                  low.empty()    ? std::string("above 0")
                  : high.empty() ? fmt::format("of at least {}", low)
                                 : fmt::format("from {} to {}", low, high));
    return fmt::format("{}", base::to_seconds(*value));
  });
}

void check_latency(CLI::Option& option, const std::string& flag, std::string_view low, std::string_view high) {
  check_time(option, flag, low, high);
  // Validators run in the order in which they were added from the last on.
  convert(option, [flag](const std::string& text) -> Result<std::string> {
    if (const auto value = base::parse_number(base::trim(text), flag))
      return fail(ErrorCode::invalid_argument, "{0} {1}: expected a duration with its unit: {1}ms or {1}s?", flag,
                  text);
    return text;
  });
}

void check_share(CLI::Option& option, const std::string& flag, double low, std::optional<double> high) {
  convert(option, [flag, low, high](const std::string& text) -> Result<std::string> {
    const auto value = base::parse_ratio(text, flag);
    if (!value || *value < low || (high ? *value > *high : *value >= 1))
      return fail(ErrorCode::invalid_argument, "{} {}: expected a share from {} to {}", flag, text, share_text(low),
                  high ? share_text(*high) : "below 100%, for example 2%");
    return fmt::format("{}", *value);
  });
}

void check_effect(CLI::Option& option, const std::string& flag) {
  convert(option, [flag](const std::string& text) -> Result<std::string> {
    const auto value = base::parse_ratio(text, flag);
    const bool is_share = !text.empty() && text.back() == '%';
    if (!value || *value < 0 || (is_share && *value >= 1))
      return fail(ErrorCode::invalid_argument,
                  "{} {}: expected a share from 0% to below 100%, for example 2%, or a number in the metric's unit",
                  flag, text);
    return fmt::format("{}", *value);
  });
}

std::string time_text(double seconds) {
  return seconds > 60 && std::fmod(seconds, 60) == 0 ? fmt::format("{:g}m", seconds / 60)
                                                     : fmt::format("{:g}s", seconds);
}

std::string share_text(double share) { return fmt::format("{:.8g}%", 100 * share); }

std::vector<std::string> list_values(const std::vector<std::string>& texts,
                                     const std::function<bool(const std::string&)>& is_value) {
  std::vector<std::string> values;
  for (const auto& text : texts) {
    const auto parts = base::split(text, ',');
    auto value = parts.front();
    for (auto part = parts.begin() + 1; part != parts.end(); ++part) {
      const std::string next(base::trim(*part));
      if (is_value(value) && is_value(next)) {
        values.push_back(std::exchange(value, next));
      } else {
        value += "," + *part;
      }
    }
    values.push_back(std::move(value));
  }
  return values;
}

Result<std::int64_t> whole_number(const std::string& text, std::string_view flag, std::int64_t low, std::int64_t high) {
  const auto value = base::parse_integer(text, flag);
  if (!value || *value < low || *value > high)
    return fail(ErrorCode::invalid_argument, "{} {}: expected a whole number {}", flag, text,
                high == kAnyNumber ? fmt::format("above {}", low - 1) : fmt::format("from {} to {}", low, high));
  return *value;
}

}  // namespace ridgeline::app
