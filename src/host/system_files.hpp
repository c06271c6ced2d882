// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::host {

/// Small files of /proc and /sys below a root; a file that is absent, unreadable or malformed is nullopt.
class SystemFiles {
 public:
  explicit SystemFiles(std::filesystem::path root = "/") : root_(std::move(root)) {}

  [[nodiscard]] const std::filesystem::path& root() const noexcept { return root_; }
  /// Without surrounding blanks. `path` is relative to the root.
  [[nodiscard]] std::optional<std::string> text(const std::filesystem::path& path) const;
  [[nodiscard]] std::optional<std::int64_t> integer(const std::filesystem::path& path) const;
  /// A list such as "0-3,8".
  [[nodiscard]] std::optional<std::vector<int>> cpu_list(const std::filesystem::path& path) const;
  /// The value after "key" and a colon or blanks in a file of such lines, of the first line that has it.
  [[nodiscard]] std::optional<std::string> field(const std::filesystem::path& path, std::string_view key) const;

 private:
  std::filesystem::path root_;
};

/// "0-3,8" to {0, 1, 2, 3, 8}; nullopt when malformed or empty.
[[nodiscard]] std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// The value of a line "key : value", or nullopt when the line has another key.
[[nodiscard]] std::optional<std::string> value_of_line(std::string_view line, std::string_view key);

}  // namespace ridgeline::host
