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
    if (count < 0) return fail(ErrorCode::io, "cannot write the backup {}: {}", path.string(), std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(fd) != 0)
    return fail(ErrorCode::io, "cannot write the backup {}: {}", path.string(), std::strerror(errno));
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
  if (::stat(target.c_str(), &old) != 0)
    return fail(ErrorCode::io, "cannot read {}: {}", target.string(), std::strerror(errno));
  const auto stamp = stamp_of(utc);
  for (int i = 0; i <= kMaxSameSecond; ++i) {
    const fs::path path = target.string() + ".bak-" + stamp + (i == 0 ? "" : fmt::format(".{:02}", i));
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return fail(ErrorCode::io, "cannot create the backup {}: {}", path.string(), std::strerror(errno));
    auto done = write_all(fd, bytes, path);
    if (done) done = base::keep_owner(fd, old, path);
    if (done && ::fchmod(fd, old.st_mode & 07777U) != 0)
      done = fail(ErrorCode::io, "cannot set the permissions of {}: {}", path.string(), std::strerror(errno));
    // A file system that cannot keep it makes the next rollback but one ask, no more.
    const timespec times[2] = {old.st_atim, old.st_mtim};
    ::futimens(fd, times);
    ::close(fd);
    if (done) return path;
    ::unlink(path.c_str());
    return tl::unexpected(std::move(done).error());
  }
  return fail(ErrorCode::io, "{} has {} backups of this second already", target.string(), kMaxSameSecond + 1)
      .hint("wait a second");
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
  const auto replace = [&]() -> base::Result<void> {
    RL_TRY_ASSIGN(const auto now, base::read_file(target));
    if (now != old_bytes)
      return fail(ErrorCode::io, "{} was changed by someone else meanwhile: nothing was written", target.string())
          .hint("run the command again");
    return base::write_file_atomically(target, new_bytes);
  };
  if (auto done = replace(); !done) {
    ::unlink(backup.c_str());
    return tl::unexpected(std::move(done).error());
  }
  if (const auto epoch = epoch_of(utc)) {
    const timespec times[2] = {{0, UTIME_OMIT}, {*epoch, 0}};
    ::utimensat(AT_FDCWD, target.c_str(), times, 0);
  }
  return backup;
}

bool edited_since(const fs::path& target, const fs::path& backup) {
  struct stat now {};
  if (::stat(target.c_str(), &now) != 0) return false;  // gone: nothing is lost
  const auto stamp = stamp_of(base::format_utc(now.st_mtim.tv_sec));
  return now.st_mtim.tv_nsec != 0 || backup.filename().string().find(".bak-" + stamp) == std::string::npos;
}

}  // namespace ridgeline::config
