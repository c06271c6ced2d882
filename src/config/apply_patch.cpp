// SPDX-License-Identifier: Apache-2.0
// apply_patch, rollback and check_patchable of campaign/config_patch.hpp: the part that touches files.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/file.hpp"
#include "config/config_patch.hpp"
#include "config/file_swap.hpp"

namespace ridgeline::config {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;

fs::path folder_of(const fs::path& target) { return target.has_parent_path() ? target.parent_path() : fs::path("."); }

}  // namespace

base::Result<void> check_patchable(const fs::path& file) {
  std::error_code error;
  const auto name = file.string();
  const auto link = fs::symlink_status(file, error);
  if (link.type() == fs::file_type::not_found)
    return fail(ErrorCode::not_found, "config file {} does not exist", name)
        .hint("create it (it may be empty), or name another with --config");
  const auto status = fs::status(file, error);
  if (fs::is_symlink(link) && !fs::exists(status))
    return fail(ErrorCode::not_found, "config file {} is a symbolic link to {}, which leads nowhere", name,
                fs::read_symlink(file, error).string())
        .hint("fix the link");
  if (status.type() == fs::file_type::none)
    return fail(ErrorCode::io, "cannot reach config file {}: {}", name, error.message())
        .hint("check the folder's permissions");
  if (fs::is_directory(status))
    return fail(ErrorCode::invalid_argument, "config file {} is a directory", name).hint("name the YAML file in it");
  if (!fs::is_regular_file(status))
    return fail(ErrorCode::invalid_argument, "config file {} is not a regular file: expected a YAML file on disk",
                name);
  const auto target = link_target(file);
  if (::access(target.c_str(), R_OK) != 0)
    return fail(ErrorCode::io, "config file {} cannot be read: {}", name, std::strerror(errno))
        .hint("change its permissions");
  if (::access(target.c_str(), W_OK) != 0)
    return fail(ErrorCode::io, "config file {} is not writable: {}", name, std::strerror(errno))
        .hint("change its permissions, or use --dry-run");
  if (::access(folder_of(target).c_str(), W_OK | X_OK) != 0)
    return fail(ErrorCode::io, "the folder of config file {} is not writable: {}: the backup goes there", name,
                std::strerror(errno))
        .hint("change its permissions");
  return {};
}

base::Result<AppliedPatch> apply_patch(const fs::path& file, const MakePatch& make, std::string_view utc) {
  RL_TRY(check_patchable(file));
  const auto target = link_target(file);
  RL_TRY_ASSIGN(const auto before, base::read_file(target));
  RL_TRY_ASSIGN(auto patch, make(before));
  if (patch.edits.empty()) return AppliedPatch{std::move(patch), {}};
  RL_TRY_ASSIGN(auto backup, swap_with_backup(target, before, patch.text, utc));
  return AppliedPatch{std::move(patch), std::move(backup)};
}

base::Result<AppliedPatch> apply_patch(const fs::path& file, const schema::Configuration& wanted,
                                       const PatchOptions& options, std::string_view utc) {
  return apply_patch(
      file, [&](std::string_view before) { return patch_settings(before, file.string(), wanted, options); }, utc);
}

base::Result<fs::path> rollback(const fs::path& file, LaterEdits edits) {
  const auto target = link_target(file);
  const auto prefix = target.filename().string() + ".bak-";
  fs::path newest;
  std::error_code error;
  for (fs::directory_iterator at(folder_of(target), error), end; !error && at != end; at.increment(error)) {
    const auto name = at->path().filename().string();
    if (name.rfind(prefix, 0) == 0 && name > newest.filename().string()) newest = at->path();
  }
  if (error) return fail(ErrorCode::io, "cannot list {}: {}", folder_of(target).string(), error.message());
  if (newest.empty())
    return fail(ErrorCode::not_found, "{} has no backup ({}<UTC>) beside it: nothing to roll back", file.string(),
                prefix);
  if (edits == LaterEdits::refuse && edited_since(target, newest))
    return fail(ErrorCode::invalid_argument, "{} was changed since {} was made of it: rolling back would lose that",
                file.string(), newest.string())
        .hint("look at the difference, then repeat with --yes");
  // The backup holds the old bytes with the old owner and permissions, so one rename restores, removes it,
  // and cannot half-succeed.
  if (::rename(newest.c_str(), target.c_str()) != 0)
    return fail(ErrorCode::io, "cannot restore {} from {}: {}", target.string(), newest.string(), std::strerror(errno));
  return newest;
}

}  // namespace ridgeline::config
