// SPDX-License-Identifier: Apache-2.0
#include "base/overwrite.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.hpp"

namespace ridgeline::base {
namespace {

namespace fs = std::filesystem;

/// errno of the first call that failed, 0: the file holds these bytes and no others.
int fill(int fd, std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const auto count = ::pwrite(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : EIO;
    at += static_cast<std::size_t>(count);
  }
  if (::ftruncate(fd, static_cast<off_t>(bytes.size())) != 0 || ::fsync(fd) != 0) return errno;
  return 0;
}

bool holds(const fs::path& path, std::string_view bytes) {
  const auto now = read_file(path);
  return now && *now == bytes;
}

}  // namespace

Result<void> overwrite_file(const fs::path& path, std::string_view old_bytes, std::string_view new_bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return os_failure("write", path, errno);
  int error = 0;
  // On a full disk this fails before a byte has changed; not every file system can do it.
  if (new_bytes.size() > old_bytes.size() && ::fallocate(fd, 0, 0, static_cast<off_t>(new_bytes.size())) != 0 &&
      errno != EOPNOTSUPP && errno != ENOSYS)
    error = errno;
  if (error == 0) error = fill(fd, new_bytes);
  if (error == 0 && !holds(path, new_bytes)) error = EIO;
  const bool restored = error == 0 || (fill(fd, old_bytes), holds(path, old_bytes));
  ::close(fd);
  if (error == 0) return {};
  auto failure = os_failure("write", path, error);
  if (!restored) failure.value().message += ", and it could not be put back as it was";
  return failure;
}

}  // namespace ridgeline::base
