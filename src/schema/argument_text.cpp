// SPDX-License-Identifier: Apache-2.0
#include "schema/argument_text.hpp"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"

namespace ridgeline::schema {
namespace {

constexpr std::size_t kMostTrials = 6;  ///< that are named; more are counted
constexpr double kFineShare = 0.0995;   ///< below it a digit more says something
constexpr double kRoughShare = 0.0095;  ///< below it the percentage has a digit at all
constexpr double kFineRatio = 10;       ///< below it digits behind the point say something
constexpr std::string_view kJoin = "join:";

std::string number_text(double value, std::string_view style, std::string_view usual) {
  if (style == "metric") return base::format_count(value);
  if (style == "prefix") return base::format_count(value) + (value < 999.5 ? " " : "");
  return fmt::format(fmt::runtime(fmt::format("{{:{}}}", style.empty() ? usual : style)), value);
}

std::string numbers_text(const std::vector<double>& values, std::string_view style) {
  std::vector<std::string> words;
  for (const auto value : values) words.push_back(number_text(value, style, ".3g"));
  return base::listed(words);
}

std::string trials_text(const std::vector<int>& ids, bool plain) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ids.size() && i < kMostTrials; ++i) names.push_back(fmt::format("{}", ids[i]));
  if (ids.size() > kMostTrials) names.push_back(fmt::format("{} more", ids.size() - kMostTrials));
  return plain ? base::listed(names) : fmt::format("{} {}", ids.size() == 1 ? "trial" : "trials", base::listed(names));
}

std::string typed_text(ArgumentKind kind, std::string_view style, const base::Json& value) {
  switch (kind) {
    case ArgumentKind::texts: {
      const auto words = value.get<std::vector<std::string>>();
      return style.starts_with(kJoin) ? fmt::format("{}", fmt::join(words, style.substr(kJoin.size())))
                                      : base::listed(words);
    }
    case ArgumentKind::count: return fmt::format("{}", value.get<std::int64_t>());
    case ArgumentKind::number: return number_text(value.get<double>(), style, ".3g");
    case ArgumentKind::numbers: return numbers_text(value.get<std::vector<double>>(), style);
    case ArgumentKind::duration: return base::format_duration(value.get<double>());
    case ArgumentKind::bytes: return base::format_bytes(value.get<double>());
    case ArgumentKind::share:
      if (style == "fine") style = std::abs(value.get<double>()) < kFineShare ? ".1f" : ".0f";
      if (style == "rough") style = std::abs(value.get<double>()) < kRoughShare ? ".1g" : ".0f";
      return number_text(value.get<double>() * 100, style, ".0f") + " %";
    case ArgumentKind::ratio:
      if (style == "fine") style = value.get<double>() < kFineRatio ? ".2f" : ".0f";
      return number_text(value.get<double>(), style, ".2f") + "x";
    case ArgumentKind::trial: return fmt::format("{}{}", style == "plain" ? "" : "trial ", value.get<int>());
    case ArgumentKind::trials: return trials_text(value.get<std::vector<int>>(), style == "plain");
    default: return value.get<std::string>();
  }
}

}  // namespace

std::string argument_text(ArgumentKind kind, std::string_view style, const base::Json& value) {
  try {
    return typed_text(kind, style, value);
  } catch (const base::Json::exception&) {
    return base::dump_json(value);
  }
}

}  // namespace ridgeline::schema
