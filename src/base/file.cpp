// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/atomic_file.hpp"
#include "base/text.hpp"

namespace ridgeline::base {
namespace {

namespace fs = std::filesystem;

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

fs::path xdg_folder(const char* variable, std::string_view fallback_below_home) {
  if (const char* value = std::getenv(variable); value != nullptr && value[0] == '/')
    return fs::path(value) / "ridgeline";
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr && home[0] != '\0' ? home : "/tmp") / fallback_below_home / "ridgeline";
}

}  // namespace

Fault os_failure(std::string_view verb, const fs::path& path, int error) {
  auto fault = fail(error == ENOENT ? ErrorCode::not_found : ErrorCode::io, "cannot {} {}: {}", verb, path.string(),
                    std::strerror(error));
  if (error == ENOSPC || error == EDQUOT) return std::move(fault).hint("free some space there, or name another disk");
  return fault;
}

Result<std::string> read_file(const fs::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return os_failure("read", path, errno);
  std::string bytes;
  std::string piece(1U << 16U, '\0');
  for (;;) {
    const auto count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return os_failure("read", path, errno);
    }
    if (count == 0) return bytes;
    bytes.append(piece.data(), static_cast<std::size_t>(count));
  }
}

Result<void> keep_owner(int fd, const struct stat& old, const fs::path& path) {
  if (::fchown(fd, old.st_uid, old.st_gid) == 0) return {};
  // Only root may give a file away; anyone else may still keep the group, when it is one of their own.
  if (::geteuid() == 0) return os_failure("set the owner of", path, errno);
  static_cast<void>(::fchown(fd, static_cast<uid_t>(-1), old.st_gid));
  return {};
}

Result<void> write_file_atomically(const fs::path& path, std::string_view bytes) {
  RL_TRY_ASSIGN(auto file, AtomicFile::create(path));
  RL_TRY(file.write(bytes));
  return file.commit();
}

fs::path state_folder() { return xdg_folder("XDG_STATE_HOME", ".local/state"); }
fs::path cache_folder() { return xdg_folder("XDG_CACHE_HOME", ".cache"); }

std::string find_program(const std::string& name) {
  const auto executable = [](const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return executable(name) ? name : std::string();
  const char* path = std::getenv("PATH");
  for (const auto& folder : split(path != nullptr ? path : "/usr/bin:/bin", ':'))
    if (auto candidate = (folder.empty() ? "." : folder) + "/" + name; executable(candidate)) return candidate;
  return {};
}

fs::path executable_path() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

}  // namespace ridgeline::base
