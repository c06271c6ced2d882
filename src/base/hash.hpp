// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace ridgeline::base {

/// Lower-case hexadecimal SHA-256 (64 characters).
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

/// The same over a file's bytes, read in pieces. Errors: not_found, io.
[[nodiscard]] Result<std::string> sha256_file(const std::filesystem::path& path);

}  // namespace ridgeline::base
