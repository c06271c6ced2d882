// SPDX-License-Identifier: Apache-2.0
#include "schema/argument_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "schema/profile.hpp"
#include "schema/quantity.hpp"

namespace ridgeline::schema {
namespace {

constexpr std::size_t kMostTrials = 6;  ///< that are named; more are counted
constexpr std::size_t kMostOfLong = 12;
constexpr double kWhole = 1000;         ///< numbers of four digits have no decimals
constexpr double kFineShare = 0.0995;   ///< below it a digit more says something
constexpr double kRoughShare = 0.0095;  ///< below it the percentage has a digit at all
constexpr double kFineRatio = 10;       ///< below it digits behind the point say something
constexpr std::string_view kJoin = "join:";
constexpr std::string_view kPath = "path";          ///< a text that is a path of modules: without most classes
constexpr std::string_view kPlain = "plain";        ///< trials: without the word; a quantity: without its unit
constexpr std::string_view kLong = "long";          ///< trials: without the word, more of them
constexpr std::string_view kNumbered = "numbered";  ///< trials: "#3, #7", all of them
constexpr std::string_view kMilliseconds = "ms";

/// Of any number but those that JSON has no form for: they are text (MessageMaker).
double number_of(const base::Json& value) {
  return value.is_string() ? std::strtod(value.get_ref<const std::string&>().c_str(), nullptr) : value.get<double>();
}

std::string number_text(double value, std::string_view style, std::string_view usual) {
  if (style == "metric") return base::format_count(value);
  if (style == "short") style = value >= kWhole ? ".0f" : ".3g";
  if (style == "digits") style = value >= kWhole ? ".0f" : ".4g";
  if (style == "prefix") return base::format_count(value) + (value < 999.5 ? " " : "");
  return fmt::format(fmt::runtime(fmt::format("{{:{}}}", style.empty() ? usual : style)), value);
}

/// A change, with its sign unless it is shown as 0.
std::string signed_text(double share) {
  if (!std::isfinite(share)) return "–";
  const auto text = fmt::format("{:.1f} %", std::abs(share) * 100);
  return text == "0.0 %" ? text : (share < 0 ? "−" : "+") + text;
}

/// "15,300".
std::string grouped_text(std::int64_t count) {
  auto text = fmt::format("{}", count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string quantity_text(const Quantity& quantity, std::string_view style) {
  if (!std::isfinite(quantity.value)) return "–";
  auto text = fmt::format("{:.{}f}", quantity.value, quantity.decimals);
  return style == kPlain || quantity.unit.empty() ? text : text + " " + quantity.unit;
}

std::string numbers_text(const std::vector<double>& values, std::string_view style) {
  if (style.starts_with(kJoin)) return fmt::format("{}", fmt::join(values, style.substr(kJoin.size())));
  std::vector<std::string> words;
  for (const auto value : values) words.push_back(number_text(value, style, ".3g"));
  return base::listed(words);
}

std::string trials_text(const std::vector<int>& ids, std::string_view style) {
  if (style == kNumbered) return ids.empty() ? std::string() : fmt::format("#{}", fmt::join(ids, ", #"));
  std::vector<std::string> names;
  const auto shown = std::min(ids.size(), style == kLong ? kMostOfLong : kMostTrials);
  for (std::size_t i = 0; i < shown; ++i) names.push_back(fmt::format("{}", ids[i]));
  if (ids.size() > shown) names.push_back(fmt::format("{} more", ids.size() - shown));
  return style == kPlain || style == kLong
             ? base::listed(names)
             : fmt::format("{} {}", ids.size() == 1 ? "trial" : "trials", base::listed(names));
}

std::string typed_text(ArgumentKind kind, std::string_view style, const base::Json& value) {
  switch (kind) {
    case ArgumentKind::texts: {
      const auto words = value.get<std::vector<std::string>>();
      return style.starts_with(kJoin) ? fmt::format("{}", fmt::join(words, style.substr(kJoin.size())))
                                      : base::listed(words);
    }
    case ArgumentKind::count:
      return style == "grouped" ? grouped_text(value.get<std::int64_t>())
                                : fmt::format("{}", value.get<std::int64_t>());
    case ArgumentKind::number: return number_text(number_of(value), style, ".3g");
    case ArgumentKind::numbers: return numbers_text(value.get<std::vector<double>>(), style);
    case ArgumentKind::duration:
      if (style.starts_with(kMilliseconds))
        return number_text(value.get<double>() / 1e6, style.substr(kMilliseconds.size()), "g") + " ms";
      return base::format_duration(value.get<double>());
    case ArgumentKind::bytes: return base::format_bytes(value.get<double>());
    case ArgumentKind::share:
      if (style == "signed") return signed_text(number_of(value));
      if (style == "fine") style = std::abs(value.get<double>()) < kFineShare ? ".1f" : ".0f";
      if (style == "rough") style = std::abs(value.get<double>()) < kRoughShare ? ".1g" : ".0f";
      return number_text(value.get<double>() * 100, style, ".0f") + " %";
    case ArgumentKind::ratio:
      if (style == "fine") style = value.get<double>() < kFineRatio ? ".2f" : ".0f";
      return number_text(value.get<double>(), style, ".2f") + "×";
    case ArgumentKind::quantity: return quantity_text(value.get<Quantity>(), style);
    case ArgumentKind::trial:
      return fmt::format("{}{}", style == kNumbered ? "#" : style == kPlain ? "" : "trial ", value.get<int>());
    case ArgumentKind::trials: return trials_text(value.get<std::vector<int>>(), style);
    case ArgumentKind::text:
      return style == kPath ? short_module_path(value.get<std::string>()) : value.get<std::string>();
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
