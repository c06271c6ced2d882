// SPDX-License-Identifier: Apache-2.0
#include "trace/import/file_bytes.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace ridgeline::trace {
namespace {

constexpr unsigned kFileBufferBytes = 1 << 16;

}  // namespace

void FileBytes::Close::operator()(gzFile_s* file) const { ::gzclose(file); }

FileBytes::FileBytes(gzFile_s* file)
    : file_(file), buffer_(std::make_unique_for_overwrite<unsigned char[]>(kFileBufferBytes)) {}

base::Result<FileBytes> FileBytes::open(const std::string& path) {
  errno = 0;
  auto* file = ::gzopen(path.c_str(), "rb");
  if (file == nullptr)
    return base::fail(base::ErrorCode::io, "{}: {}", path, std::error_code(errno, std::generic_category()).message());
  return FileBytes(file);
}

bool FileBytes::refill() {
  before_ += end_;
  at_ = end_ = 0;
  const int got = ::gzread(file_.get(), buffer_.get(), kFileBufferBytes);
  if (got > 0) end_ = static_cast<std::size_t>(got);
  return end_ > 0;
}

bool FileBytes::read(void* into, std::size_t count) {
  auto* place = static_cast<unsigned char*>(into);
  while (count > 0) {
    if (at_ == end_ && !refill()) return false;
    const auto part = std::min(count, end_ - at_);
    std::memcpy(place, buffer_.get() + at_, part);
    at_ += part;
    place += part;
    count -= part;
  }
  return true;
}

bool FileBytes::read(std::string& into, std::size_t count) {
  into.clear();
  while (count > 0) {
    if (at_ == end_ && !refill()) return false;
    const auto part = std::min(count, end_ - at_);
    into.append(reinterpret_cast<const char*>(buffer_.get()) + at_, part);
    at_ += part;
    count -= part;
  }
  return true;
}

}  // namespace ridgeline::trace
