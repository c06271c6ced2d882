// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/file.hpp"
#include "base/overwrite.hpp"

namespace ridgeline::base {

namespace fs = std::filesystem;

Result<AtomicFile> AtomicFile::create(const fs::path& path) {
  AtomicFile file;
  std::error_code ignored;
  const auto resolved = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : path;
  file.target_ = resolved.empty() ? path : resolved;
  file.folder_ = file.target_.has_parent_path() ? file.target_.parent_path() : fs::path(".");
  auto temporary = (file.folder_ / ("." + file.target_.filename().string() + ".XXXXXX")).string();
  file.fd_ = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file.fd_ < 0) return os_failure("create", file.target_, errno);
  file.temporary_ = std::move(temporary);
  RL_TRY(file.take_permissions());
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : target_(std::move(other.target_)),
      folder_(std::move(other.folder_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (fd_ >= 0) ::close(fd_);
}

Result<void> AtomicFile::take_permissions() const {
  struct stat old {};
  if (::stat(target_.c_str(), &old) == 0) {
    if (!S_ISREG(old.st_mode)) return fail(ErrorCode::io, "cannot replace {}: not a regular file", target_.string());
    RL_TRY(keep_owner(fd_, old, target_));
    if (::fchmod(fd_, old.st_mode & 07777U) != 0) return os_failure("set permissions of", target_, errno);
    return {};
  }
  const auto mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd_, 0666U & ~mask);
  return {};
}

Result<void> AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return os_failure("write", target_, errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> AtomicFile::commit() {
  if (::fsync(fd_) != 0) return os_failure("write", target_, errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    if (errno != EBUSY) return os_failure("replace", target_, errno);
    // A mount point, as Docker's -v FILE:FILE makes one, can only be written where it is.
    RL_TRY_ASSIGN(const auto before, read_file(target_));
    RL_TRY_ASSIGN(const auto after, read_file(temporary_));
    return overwrite_file(target_, before, after);
  }
  temporary_.clear();
  const int directory = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
  return {};
}

}  // namespace ridgeline::base
