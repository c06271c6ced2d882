// SPDX-License-Identifier: Apache-2.0
// apply_patch, rollback and check_patchable of campaign/config_patch.hpp: the part that touches files.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
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

/// errno says why.
base::Fault not_writable(const std::string& name, int error) {
  auto fault = fail(ErrorCode::io, "config file {} is not writable: {}", name, std::strerror(error));
  if (error == EROFS)
    return std::move(fault).hint("it is mounted read-only (Docker: leave out :ro); --dry-run shows the change");
  if (error == EPERM)
    return std::move(fault).hint(
        "it may be immutable (lsattr shows it, chattr -i ends it); --dry-run shows the change");
  return std::move(fault).hint("change its permissions, or use --dry-run");
}

/// chattr +a, which access() does not see.
bool is_append_only(const fs::path& target) {
  const int file = ::open(target.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  int flags = 0;
  const bool known = ::ioctl(file, FS_IOC_GETFLAGS, &flags) == 0;
  ::close(file);
  return known && (flags & FS_APPEND_FL) != 0;
}

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
  if (::access(target.c_str(), W_OK) != 0) return not_writable(name, errno);
  if (is_append_only(target))
    return fail(ErrorCode::io, "config file {} is not writable: it is append-only", name)
        .hint("chattr -a ends that; --dry-run shows the change");
  if (::access(folder_of(target).c_str(), W_OK | X_OK) == 0) return {};
  // The backup goes into the state folder then.
  const auto reason = std::string(std::strerror(errno));
  const auto other = folder_of(backup_prefixes(target).back());
  fs::create_directories(other, error);
  if (::access(other.c_str(), W_OK | X_OK) != 0)
    return fail(ErrorCode::io,
                "there is no place for a backup of config file {}: its folder is not writable ({}), nor is {}", name,
                reason, other.string())
        .hint("make one of them writable");
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
  fs::path newest;
  std::string newest_stamp;
  for (const auto& prefix : backup_prefixes(target)) {
    std::error_code error;
    const auto begin = prefix.filename().string();
    for (fs::directory_iterator at(folder_of(prefix), error), end; !error && at != end; at.increment(error)) {
      const auto name = at->path().filename().string();
      if (name.rfind(begin, 0) != 0 || name.substr(begin.size()) <= newest_stamp) continue;
      newest_stamp = name.substr(begin.size());
      newest = at->path();
    }
    if (error && error != std::errc::no_such_file_or_directory)
      return fail(ErrorCode::io, "cannot list {}: {}", folder_of(prefix).string(), error.message());
  }
  if (newest.empty())
    return fail(ErrorCode::not_found, "{} has no backup ({}.bak-<UTC>) beside it: nothing to roll back", file.string(),
                target.filename().string());
  if (edits == LaterEdits::refuse && edited_since(target, newest))
    return fail(ErrorCode::invalid_argument, "{} was changed since {} was made of it: rolling back would lose that",
                file.string(), newest.string())
        .hint("look at the difference, then repeat with --yes");
  RL_TRY(put_back(target, newest));
  return newest;
}

std::string backup_text(const fs::path& file, const fs::path& backup) {
  return backup.parent_path() == link_target(file).parent_path() ? backup.filename().string() : backup.string();
}

}  // namespace ridgeline::config
