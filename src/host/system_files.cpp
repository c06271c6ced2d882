// SPDX-License-Identifier: Apache-2.0
#include "host/system_files.hpp"

#include "base/file.hpp"
#include "base/text.hpp"

namespace ridgeline::host {

std::optional<std::string> SystemFiles::text(const std::filesystem::path& path) const {
  const auto bytes = base::read_file(root_ / path);
  if (!bytes) return std::nullopt;
  return std::string(base::trim(*bytes));
}

std::optional<std::int64_t> SystemFiles::integer(const std::filesystem::path& path) const {
  const auto content = text(path);
  if (!content) return std::nullopt;
  const auto number = base::parse_integer(*content, "number");
  return number ? std::optional(*number) : std::nullopt;
}

std::optional<std::vector<int>> SystemFiles::cpu_list(const std::filesystem::path& path) const {
  const auto content = text(path);
  return content ? parse_cpu_list(*content) : std::nullopt;
}

std::optional<std::string> SystemFiles::field(const std::filesystem::path& path, std::string_view key) const {
  const auto content = text(path);
  if (!content) return std::nullopt;
  for (const auto& line : base::split(*content, '\n'))
    if (auto value = value_of_line(line, key)) return value;
  return std::nullopt;
}

std::optional<std::string> value_of_line(std::string_view line, std::string_view key) {
  line = base::trim(line);
  if (line.substr(0, key.size()) != key) return std::nullopt;
  line = base::trim(line.substr(key.size()));
  if (line.empty() || line.front() != ':') return std::nullopt;
  return std::string(base::trim(line.substr(1)));
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  constexpr std::int64_t kMostCpus = 65536;  // guards against a malformed range
  std::vector<int> cpus;
  for (const auto& part : base::split(base::trim(text), ',')) {
    const auto dash = part.find('-');
    const auto first = base::parse_integer(part.substr(0, dash), "cpu");
    const auto last = dash == std::string::npos ? first : base::parse_integer(part.substr(dash + 1), "cpu");
    if (!first || !last || *first < 0 || *last < *first || *last >= kMostCpus) return std::nullopt;
    for (auto cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  if (cpus.empty()) return std::nullopt;
  return cpus;
}

}  // namespace ridgeline::host
