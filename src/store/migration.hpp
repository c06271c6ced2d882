// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/error.hpp"
#include "store/sqlite.hpp"
#include "store/text_reader.hpp"

namespace ridgeline::store {

/// A step from schema version `to - 1` to `to`. Append-only: a released step is never edited.
struct Migration {
  int to = 0;
  const char* sql = nullptr;  ///< the step, ...
  /// ... or a function that makes it
  base::Result<void> (*move)(const Connection&, const TextReader&) = nullptr;
  const char* fresh = nullptr;  ///< makes this schema in an empty file; nullptr: by all steps up to it
};

/// Versions 1, 2, 3 ... in order; the last one is what this program writes.
[[nodiscard]] std::span<const Migration> migrations();

/// Marks a file as ours (PRAGMA application_id): "RDGL".
inline constexpr std::int64_t kApplicationId = 0x5244474c;

/// Where a file of that schema is kept as it was before it was brought up to date: "ridgeline.db.schema3".
[[nodiscard]] std::filesystem::path copy_before_migration(const std::filesystem::path& file, std::int64_t version);

/// Brings the file up to date, each step in one transaction together with its version number, so that a crash leaves
/// the one or the other; an older file is copied first. Safe when two processes do it at once. Also switches the file
/// to WAL. Errors: unsupported (written by a newer version), corrupt (another program's database), io (no room for the
/// copy) and Connection's.
[[nodiscard]] base::Result<void> migrate(const Connection& connection, const TextReader& reader = {},
                                         std::span<const Migration> steps = migrations());

/// For a file that cannot be written: an error (unsupported) also when it is older than the last step.
[[nodiscard]] base::Result<void> check_migrated(const Connection& connection,
                                                std::span<const Migration> steps = migrations());

}  // namespace ridgeline::store
