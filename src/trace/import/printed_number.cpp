// SPDX-License-Identifier: Apache-2.0
#include "trace/import/printed_number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace ridgeline::trace {
namespace {

/// Whether the last of these marks is a decimal point or comma.
bool is_decimal(std::string_view text, char mark) {
  const auto last = text.rfind(mark);
  const char other = mark == ',' ? '.' : ',';
  if (const auto last_other = text.rfind(other); last_other != std::string_view::npos) return last > last_other;
  if (text.find(mark) != last) return false;  // several: groups
  return mark == '.' || text.size() - last - 1 != 3;
}

constexpr std::array<std::pair<std::string_view, double>, 9> kTimes{{{"ns", 1},
                                                                     {"nsecond", 1},
                                                                     {"us", 1e3},
                                                                     {"usecond", 1e3},
                                                                     {"ms", 1e6},
                                                                     {"msecond", 1e6},
                                                                     {"s", 1e9},
                                                                     {"second", 1e9},
                                                                     {"sec", 1e9}}};

double scale(char prefix) {
  switch (prefix) {
    case 'K':
    case 'k': return 1e3;
    case 'M': return 1e6;
    case 'G': return 1e9;
    case 'T': return 1e12;
    default: return 0;
  }
}

}  // namespace

std::optional<double> printed_number(std::string_view text) {
  std::string plain;
  const char decimal = is_decimal(text, ',') && text.find(',') != std::string_view::npos ? ',' : '.';
  const bool has_decimal = text.find(decimal) != std::string_view::npos && is_decimal(text, decimal);
  const auto place = has_decimal ? text.rfind(decimal) : std::string_view::npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',' || text[i] == '.') {
      if (i == place) plain += '.';
    } else {
      plain += text[i];
    }
  }
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc() || end != plain.data() + plain.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

Unit unit_of(std::string_view text) {
  for (const auto& [name, factor] : kTimes)
    if (text == name) return {"ns", factor};
  std::string_view rest = text;
  double factor = 1;
  if (const double found = text.empty() ? 0 : scale(text.front());
      found != 0 && text.size() > 1 && (text.substr(1).starts_with("byte") || text.substr(1) == "hz")) {
    factor = found;
    rest.remove_prefix(1);
  }
  if (rest == "byte") return {"byte", factor};
  if (rest == "hz") return {"hz", factor};
  if (rest.starts_with("byte/")) {
    for (const auto& [name, nanoseconds] : kTimes)
      if (rest.substr(5) == name) return {"byte/s", factor * 1e9 / nanoseconds};
    return {std::string(rest), factor};
  }
  return {std::string(text), 1};
}

}  // namespace ridgeline::trace
