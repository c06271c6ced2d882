// SPDX-License-Identifier: Apache-2.0
#include "doctor/gather/system_text.hpp"

#include "base/file.hpp"
#include "base/text.hpp"

namespace ridgeline::doctor {

std::optional<std::string> file_text(const std::filesystem::path& path) {
  const auto bytes = base::read_file(path);
  if (!bytes) return std::nullopt;
  return std::string(base::trim(*bytes));
}

std::optional<std::int64_t> file_integer(const std::filesystem::path& path) {
  const auto text = file_text(path);
  if (!text) return std::nullopt;
  const auto number = base::parse_integer(*text, "number");
  return number ? std::optional(*number) : std::nullopt;
}

std::optional<std::string> file_field(const std::filesystem::path& path, std::string_view key) {
  const auto text = file_text(path);
  if (!text) return std::nullopt;
  for (const auto& line : base::split(*text, '\n')) {
    const auto colon = line.find(':');
    if (colon != std::string::npos && base::trim(std::string_view(line).substr(0, colon)) == key)
      return std::string(base::trim(std::string_view(line).substr(colon + 1)));
  }
  return std::nullopt;
}

std::vector<int> number_list(std::string_view text) {
  constexpr std::int64_t kMost = 65536;
  std::vector<int> numbers;
  for (const auto& part : base::split(base::trim(text), ',')) {
    const auto dash = part.find('-');
    const auto first = base::parse_integer(part.substr(0, dash), "number");
    const auto last = dash == std::string::npos ? first : base::parse_integer(part.substr(dash + 1), "number");
    if (!first || !last || *first < 0 || *last < *first || *last >= kMost) return {};
    for (auto number = *first; number <= *last; ++number) numbers.push_back(static_cast<int>(number));
  }
  return numbers;
}

}  // namespace ridgeline::doctor
