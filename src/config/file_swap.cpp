// SPDX-License-Identifier: Apache-2.0
#include "config/file_swap.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/overwrite.hpp"

namespace ridgeline::config {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;

constexpr int kMaxSameSecond = 99;  ///< backups of one file within one second

base::Result<void> write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const auto count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return base::os_failure("write the backup", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(fd) != 0) return base::os_failure("write the backup", path, errno);
  return {};
}

/// "2026-11-21T08:15:00Z" as it stands in a backup's name.
std::string stamp_of(std::string_view utc) {
  std::string stamp;
  for (const char c : utc)
    if (c != '-' && c != ':') stamp += c;
  return stamp;
}

std::optional<std::time_t> epoch_of(std::string_view utc) {
  std::tm parts{};
  if (::strptime(std::string(utc).c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr) return std::nullopt;
  return ::timegm(&parts);
}

/// Never overwrites; private until it has the original's owner and permissions, which a rollback gives back.
base::Result<fs::path> write_backup(const fs::path& target, std::string_view bytes, std::string_view utc) {
  struct stat old {};
  if (::stat(target.c_str(), &old) != 0) return base::os_failure("read", target, errno);
  const auto stamp = stamp_of(utc);
  int refused = 0;
  for (const auto& prefix : backup_prefixes(target)) {
    // The user's folders are theirs to make; only our own is made here.
    if (std::error_code ignored; refused != 0) fs::create_directories(prefix.parent_path(), ignored);
    for (int i = 0; i <= kMaxSameSecond; ++i) {
      const fs::path path = prefix.string() + stamp + (i == 0 ? "" : fmt::format(".{:02}", i));
      const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      if (fd < 0 && errno == EEXIST) continue;
      if (fd < 0) {
        refused = errno;
        break;
      }
      auto done = write_all(fd, bytes, path);
      if (done) done = base::keep_owner(fd, old, path);
      if (done && ::fchmod(fd, old.st_mode & 07777U) != 0)
        done = base::os_failure("set the permissions of", path, errno);
      // A file system that cannot keep it makes the next rollback but one ask, no more.
      const timespec times[2] = {old.st_atim, old.st_mtim};
      ::futimens(fd, times);
      ::close(fd);
      if (done) return path;
      ::unlink(path.c_str());
      return tl::unexpected(std::move(done).error());
    }
    if (refused != EACCES && refused != EPERM && refused != EROFS) break;
  }
  if (refused != 0) return base::os_failure("create a backup of", target, refused);
  return fail(ErrorCode::io, "{} has {} backups of this second already", target.string(), kMaxSameSecond + 1)
      .hint("wait a second");
}

/// A file that a rename would make another one: some of its names, or its owner, would be lost.
bool must_stay(const fs::path& target) {
  struct stat info {};
  return ::stat(target.c_str(), &info) == 0 && (info.st_nlink > 1 || (::geteuid() != 0 && info.st_uid != ::geteuid()));
}

/// Atomically where that is possible, else in place.
base::Result<void> replace_content(const fs::path& target, std::string_view old_bytes, std::string_view new_bytes) {
  if (!must_stay(target) && base::write_file_atomically(target, new_bytes)) return {};
  return base::overwrite_file(target, old_bytes, new_bytes);
}

}  // namespace

fs::path link_target(const fs::path& file) {
  std::error_code error;
  auto target = fs::canonical(file, error);
  return error ? file : target;
}

base::Result<fs::path> swap_with_backup(const fs::path& target, std::string_view old_bytes, std::string_view new_bytes,
                                        std::string_view utc) {
  RL_TRY_ASSIGN(auto backup, write_backup(target, old_bytes, utc));
  const auto before = base::read_file(target);
  if (!before || *before != old_bytes) {
    ::unlink(backup.c_str());
    if (!before) return tl::unexpected(before.error());
    return fail(ErrorCode::io, "{} was changed by someone else meanwhile: nothing was written", target.string())
        .hint("run the command again");
  }
  if (auto done = replace_content(target, old_bytes, new_bytes); !done) {
    auto error = std::move(done).error();
    if (const auto now = base::read_file(target); now && *now == old_bytes)
      ::unlink(backup.c_str());
    else
      error.hint = fmt::format("what it held is in {}", backup.string());
    return tl::unexpected(std::move(error));
  }
  if (const auto epoch = epoch_of(utc)) {
    const timespec times[2] = {{0, UTIME_OMIT}, {*epoch, 0}};
    ::utimensat(AT_FDCWD, target.c_str(), times, 0);
  }
  return backup;
}

std::vector<fs::path> backup_prefixes(const fs::path& target) {
  std::error_code error;
  const auto absolute = fs::absolute(target, error);
  const auto own =
      fmt::format("{}-{}.bak-", target.filename().string(), base::sha256_hex(absolute.string()).substr(0, 12));
  return {target.string() + ".bak-", base::state_folder() / "backups" / own};
}

base::Result<void> put_back(const fs::path& target, const fs::path& backup) {
  // The backup holds the old bytes with the old owner and permissions, so one rename restores, removes it, and cannot
  // half-succeed.
  if (!must_stay(target) && ::rename(backup.c_str(), target.c_str()) == 0) return {};
  RL_TRY_ASSIGN(const auto old_bytes, base::read_file(backup));
  const auto now = base::read_file(target);
  RL_TRY(now ? replace_content(target, *now, old_bytes) : base::write_file_atomically(target, old_bytes));
  struct stat old {};
  if (::stat(backup.c_str(), &old) == 0) {
    const timespec times[2] = {old.st_atim, old.st_mtim};
    ::utimensat(AT_FDCWD, target.c_str(), times, 0);
  }
  if (::unlink(backup.c_str()) != 0)
    return fail(ErrorCode::io, "{} is restored, but its backup {} cannot be removed: {}", target.string(),
                backup.string(), std::strerror(errno))
        .hint("remove it yourself");
  return {};
}

bool edited_since(const fs::path& target, const fs::path& backup) {
  struct stat now {};
  if (::stat(target.c_str(), &now) != 0) return false;  // gone: nothing is lost
  const auto stamp = stamp_of(base::format_utc(now.st_mtim.tv_sec));
  return now.st_mtim.tv_nsec != 0 || backup.filename().string().find(".bak-" + stamp) == std::string::npos;
}

}  // namespace ridgeline::config
