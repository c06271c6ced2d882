// SPDX-License-Identifier: Apache-2.0
#include "report/yaml_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace ridgeline::report {
namespace {

/// A plain scalar that no YAML 1.1 or 1.2 reader takes for anything but a string.
bool is_plain(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kWords{"true", "false", "yes", "no", "on", "off", "null", "y", "n"};
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text[0])) == 0) return false;
  std::string lower;
  for (const auto c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-') return false;
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return std::find(kWords.begin(), kWords.end(), lower) == kWords.end();
}

/// JSON strings are YAML double-quoted scalars.
std::string scalar(std::string_view text) {
  return is_plain(text) ? std::string(text) : base::dump_json(std::string(text));
}

}  // namespace

std::string to_yaml(const schema::Configuration& configuration, std::string_view section) {
  if (configuration.empty()) return fmt::format("{}: {{}}\n", scalar(section));
  auto out = fmt::format("{}:\n", scalar(section));
  for (const auto& [key, value] : configuration.values())
    out += fmt::format("  {}: {}\n", scalar(key), value.is_text() ? scalar(value.as_text()) : value.to_text());
  return out;
}

}  // namespace ridgeline::report
