// SPDX-License-Identifier: Apache-2.0
#include "stream/input_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ridgeline::stream {

base::Result<InputFile> InputFile::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) return InputFile(fd, true);
  if (errno == ENOENT || errno == ENOTDIR)
    return base::fail(base::ErrorCode::not_found, "{}: no such file", path.string());
  return base::fail(base::ErrorCode::io, "{} cannot be read: {}", path.string(), std::strerror(errno));
}

InputFile::~InputFile() {
  if (owned_ && fd_ >= 0) ::close(fd_);
}

}  // namespace ridgeline::stream
