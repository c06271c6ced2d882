// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "schema/configuration.hpp"

namespace ridgeline::config {

/// How parameter keys are found in the user's YAML: by `mapping`, else by name at any depth. Of several places of one
/// name, those inside `section` win, then the one that overrides a merged default, then those among other parameters;
/// what is still several is an error that lists the lines. Absent keys go where other parameters are, else into
/// `section`. Aliases: a value written as an alias is replaced by a plain one; a value, or a mapping found by name,
/// that aliases elsewhere stand for is never changed (an error), unless one section of ours merges it: that one gets an
/// override.
struct PatchOptions {
  /// Parameter key -> dotted path in the file ("runtime.onnx.threads", "models.0.batch"); "#2:a.b" is in the second
  /// document. A path may point into an anchored mapping, which then changes for all its users.
  std::map<std::string, std::string> mapping;
  std::string section = "onnxruntime";  ///< where a key goes when neither it nor a sibling is present
  bool section_named = true;  ///< by the user; else a file with neither that section nor a parameter is an error
  std::string provenance;     ///< comment put after a changed value, or "" for none
};

/// One value the patch touches.
struct PatchEdit {
  std::string key;
  std::string path;                   ///< dotted path in the file
  int line = 0;                       ///< 1-based
  std::optional<std::string> before;  ///< source text; nullopt: added
  std::string after;
  bool commented = false;  ///< PatchOptions::provenance stands behind it: not in a flow mapping, nor where another does
};

struct PatchResult {
  std::string text;              ///< the new file
  std::vector<PatchEdit> edits;  ///< empty: nothing to change, text is the input
};

/// A setting found in the user's file.
struct FoundSetting {
  std::string key;
  std::string path;
  int line = 0;
  schema::Value value;
};

/// One that is there, but cannot be read as a legal value.
struct UnreadSetting {
  std::string key;
  std::string text;  ///< as it is written; "" where that is no single value
  base::Error error;
};

/// Reads the catalogue's parameters out of a config.yaml by name at any depth (or by mapping).
/// Errors (invalid_argument, with line and column): malformed YAML, duplicate keys, a value that is not legal. With
/// `unread` a value of a parameter that only some providers have goes there in place of being an error: it may concern
/// nobody.
[[nodiscard]] base::Result<std::vector<FoundSetting>> read_settings(std::string_view yaml, std::string_view file_name,
                                                                    const PatchOptions& options,
                                                                    std::vector<UnreadSetting>* unread = nullptr);

/// Pure: computes the new text. Bytes outside changed values and added lines stay identical. The result is parsed again
/// and compared: only the asked-for values may differ, else ErrorCode::internal and no change.
[[nodiscard]] base::Result<PatchResult> patch_settings(std::string_view yaml, std::string_view file_name,
                                                       const schema::Configuration& wanted,
                                                       const PatchOptions& options);

/// A unified diff (three lines of context) of the two texts, "" when equal.
[[nodiscard]] std::string unified_diff(std::string_view before, std::string_view after, std::string_view name);

struct AppliedPatch {
  PatchResult patch;
  std::filesystem::path backup;  ///< empty when nothing changed
};

/// The patch of a file's text.
using MakePatch = std::function<base::Result<PatchResult>(std::string_view before)>;

/// Reads, patches and replaces the file, atomically where that is possible (swap_with_backup), keeping a backup
/// "<file>.bak-<UTC>" beside it (the link's target's folder when it is a symbolic link; the state folder when that
/// cannot be written). A file changed by someone else since it was read is an error. The new file's modification time
/// is `utc`, the backup keeps the old one's: so rollback sees whether the file was edited since.
[[nodiscard]] base::Result<AppliedPatch> apply_patch(const std::filesystem::path& file, const MakePatch& make,
                                                     std::string_view utc);
/// The same by patch_settings.
[[nodiscard]] base::Result<AppliedPatch> apply_patch(const std::filesystem::path& file,
                                                     const schema::Configuration& wanted, const PatchOptions& options,
                                                     std::string_view utc);

/// What a rollback does with edits made to the file after the change that it undoes.
enum class LaterEdits { refuse, lose };

/// Restores the newest backup, byte for byte, and removes it. A file whose modification time is not the one that
/// apply_patch gave it counts as edited. Errors: not_found when there is no backup, invalid_argument for refused edits.
[[nodiscard]] base::Result<std::filesystem::path> rollback(const std::filesystem::path& file,
                                                           LaterEdits edits = LaterEdits::refuse);

/// The backup's name, with its folder where that is not the file's.
[[nodiscard]] std::string backup_text(const std::filesystem::path& file, const std::filesystem::path& backup);

/// Checked before anything is measured: exists, is a regular file (or a link to one), readable, writable, a place for
/// the backup.
[[nodiscard]] base::Result<void> check_patchable(const std::filesystem::path& file);

}  // namespace ridgeline::config
