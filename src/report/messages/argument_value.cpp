// SPDX-License-Identifier: Apache-2.0
#include "report/messages/argument_value.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "schema/argument_text.hpp"
#include "schema/quantity.hpp"

namespace ridgeline::report {
namespace {

using schema::ArgumentKind;
using Json = base::Json;

template <typename T>
std::optional<T> whole_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "4.52 MiB" by its unit.
std::optional<Json> with_unit(std::string_view text, std::initializer_list<std::pair<std::string_view, double>> units) {
  for (const auto& [unit, factor] : units)
    if (text.ends_with(unit))
      if (const auto value = whole_number<double>(text.substr(0, text.size() - unit.size()))) return *value * factor;
  return std::nullopt;
}

/// "2 m 05 s", "1 h 07 m".
std::optional<Json> long_duration(std::string_view text) {
  const auto words = base::split(text, ' ');
  if (words.size() != 4) return std::nullopt;
  const auto first = whole_number<double>(words[0]);
  const auto second = whole_number<double>(words[2]);
  if (!first || !second) return std::nullopt;
  if (words[1] == "m" && words[3] == "s") return (*first * 60 + *second) * 1e9;
  if (words[1] == "h" && words[3] == "m") return (*first * 3600 + *second * 60) * 1e9;
  return std::nullopt;
}

/// "a", "a and b", "a, b and c".
std::vector<std::string> items_of(std::string_view text, std::string_view style) {
  constexpr std::string_view kJoin = "join:";
  std::vector<std::string> items;
  const auto take = [&](std::string_view separator) {
    for (auto at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
      items.emplace_back(text.substr(0, at));
      text.remove_prefix(at + separator.size());
    }
  };
  if (style.starts_with(kJoin)) {
    take(style.substr(kJoin.size()));
  } else {
    take(", ");
    take(" and ");
  }
  items.emplace_back(text);
  return items;
}

std::optional<Json> numbers_of(std::string_view text, std::string_view style) {
  std::vector<double> values;
  for (const auto& item : items_of(text, style)) {
    const auto value = whole_number<double>(item);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::optional<Json> trial_numbers(std::string_view text, std::string_view style) {
  const bool numbered = style == "numbered";
  if (style != "plain" && style != "long" && !numbered) {
    const auto space = text.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    text.remove_prefix(space + 1);
  }
  if (numbered && !text.empty()) text.remove_prefix(1);
  std::vector<int> ids;
  for (const auto& item : items_of(text, numbered ? "join:, #" : "")) {
    const auto id = whole_number<int>(item);
    if (!id) return std::nullopt;
    ids.push_back(*id);
  }
  return ids;
}

/// "12.34 ms", "12.34".
std::optional<Json> quantity_of(std::string_view text) {
  const auto number = text.substr(0, text.find(' '));
  const auto value = whole_number<double>(number);
  if (!value) return std::nullopt;
  const auto point = number.find('.');
  return schema::Quantity{*value, std::string(text.substr(std::min(text.size(), number.size() + 1))),
                          point == std::string_view::npos ? 0 : static_cast<int>(number.size() - point - 1)};
}

/// "+11.4 %", "−3.2 %".
std::optional<Json> signed_share(std::string_view text) {
  constexpr std::string_view kMinus = "−";
  const bool less = text.starts_with(kMinus);
  if (less) text.remove_prefix(kMinus.size());
  const auto percent = with_unit(text, {{" %", 1}});
  if (!percent) return std::nullopt;
  return percent->get<double>() / (less ? -100 : 100);
}

std::optional<Json> typed_value(ArgumentKind kind, std::string_view style, std::string_view text) {
  const auto json = [](const auto& value) { return value ? std::optional<Json>(*value) : std::nullopt; };
  if (style == "prefix" && text.ends_with(' ')) text.remove_suffix(1);
  if (style == "metric" || style == "prefix")
    if (const auto value = with_unit(text, {{" k", 1e3}, {" M", 1e6}, {" G", 1e9}, {" T", 1e12}})) return value;
  switch (kind) {
    case ArgumentKind::text: return Json(std::string(text));
    case ArgumentKind::texts: return Json(items_of(text, style));
    case ArgumentKind::count:
      if (style == "grouped") {
        std::string digits(text);
        std::erase(digits, ',');
        return json(whole_number<std::int64_t>(digits));
      }
      return json(whole_number<std::int64_t>(text));
    case ArgumentKind::number: return json(whole_number<double>(text));
    case ArgumentKind::numbers: return numbers_of(text, style);
    case ArgumentKind::share:
      if (style == "signed") return signed_share(text);
      if (const auto percent = with_unit(text, {{" %", 1}})) return percent->get<double>() / 100;
      return std::nullopt;
    case ArgumentKind::quantity: return quantity_of(text);
    case ArgumentKind::ratio: return with_unit(text, {{"×", 1}, {"x", 1}});  // the latter until version 0.2
    case ArgumentKind::bytes:
      return with_unit(text, {{" KiB", 1024.0}, {" MiB", 0x1p20}, {" GiB", 0x1p30}, {" TiB", 0x1p40}, {" B", 1}});
    case ArgumentKind::duration:
      if (auto value = long_duration(text)) return value;
      return with_unit(text, {{" ns", 1}, {" µs", 1e3}, {" ms", 1e6}, {" s", 1e9}});
    case ArgumentKind::trial:
      if (style == "numbered") return json(whole_number<int>(text.substr(1)));
      if (style != "plain" && !text.starts_with("trial ")) return std::nullopt;
      return json(whole_number<int>(style == "plain" ? text : text.substr(6)));
    case ArgumentKind::trials: return trial_numbers(text, style);
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<Json> argument_value(ArgumentKind kind, std::string_view style, std::string_view text) {
  if (text.empty()) return std::nullopt;
  auto value = typed_value(kind, style, text);
  if (value && schema::argument_text(kind, style, *value) != text) return std::nullopt;
  return value;
}

}  // namespace ridgeline::report
