// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.hpp"

namespace ridgeline::base {

/// Replaces the content of a file in place: for one that no rename can replace, such as a mount point, or that must
/// stay the same file, such as one with several hard links. What was written is read again and compared. Readers may
/// see half of it meanwhile. Errors (io): it cannot be written; the file holds `old_bytes` again, unless the message
/// says that it does not.
[[nodiscard]] Result<void> overwrite_file(const std::filesystem::path& path, std::string_view old_bytes,
                                          std::string_view new_bytes);

}  // namespace ridgeline::base
