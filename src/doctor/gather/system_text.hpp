// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::doctor {

/// A small file of /proc or /sys without surrounding blanks; nullopt when it cannot be read.
[[nodiscard]] std::optional<std::string> file_text(const std::filesystem::path& path);
[[nodiscard]] std::optional<std::int64_t> file_integer(const std::filesystem::path& path);
/// The value of the first line "key: value".
[[nodiscard]] std::optional<std::string> file_field(const std::filesystem::path& path, std::string_view key);
/// "0-3,8" as numbers; empty when malformed.
[[nodiscard]] std::vector<int> number_list(std::string_view text);

}  // namespace ridgeline::doctor
