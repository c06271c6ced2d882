// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::config {

/// The file that a path stands for: the end of its symbolic links.
[[nodiscard]] std::filesystem::path link_target(const std::filesystem::path& file);

/// What the paths of a file's backups begin with, before the UTC: beside it, and in the state folder for a file whose
/// own folder cannot be written.
[[nodiscard]] std::vector<std::filesystem::path> backup_prefixes(const std::filesystem::path& target);

/// Writes `old_bytes` to a new backup (same owner, permissions and modification time) and replaces the target by
/// `new_bytes`, with `utc` as its modification time: see edited_since. Atomically; in place where a rename is
/// impossible (a mount point, a folder that cannot be written) or would lose something (other hard links, the owner).
/// Errors, with target and backups as they were: the target no longer holds `old_bytes` (someone else changed it); io.
[[nodiscard]] base::Result<std::filesystem::path> swap_with_backup(const std::filesystem::path& target,
                                                                   std::string_view old_bytes,
                                                                   std::string_view new_bytes, std::string_view utc);

/// Gives the target the content of its backup, which is removed. Errors (io).
[[nodiscard]] base::Result<void> put_back(const std::filesystem::path& target, const std::filesystem::path& backup);

/// Whether the target was written again after the change that made this backup of it. The backup's name holds the time
/// that swap_with_backup gave the target, whole seconds, which no later write leaves there.
[[nodiscard]] bool edited_since(const std::filesystem::path& target, const std::filesystem::path& backup);

}  // namespace ridgeline::config
