// SPDX-License-Identifier: Apache-2.0
#include "execute/shared_memory.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ridgeline::execute {
namespace {

void* map(int fd, std::size_t size) noexcept {
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

base::Result<SharedBytes> SharedBytes::create(std::size_t size) {
  SharedBytes shared;
  shared.size_ = size;
  shared.fd_ = ::memfd_create("ridgeline-status", MFD_CLOEXEC);
  if (shared.fd_ >= 0 && ::ftruncate(shared.fd_, static_cast<off_t>(size)) == 0) shared.data_ = map(shared.fd_, size);
  if (shared.data_ == nullptr)
    return base::fail(base::ErrorCode::io, "cannot share memory with a worker: {}", std::strerror(errno));
  return shared;
}

base::Result<SharedBytes> SharedBytes::attach(int fd, std::size_t size) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || info.st_size != static_cast<off_t>(size))
    return base::fail(base::ErrorCode::invalid_argument, "file descriptor {} is not the status memory of a parent", fd);
  SharedBytes shared;
  shared.size_ = size;
  shared.data_ = map(fd, size);
  if (shared.data_ == nullptr)
    return base::fail(base::ErrorCode::io, "cannot map the status memory of the parent: {}", std::strerror(errno));
  return shared;
}

SharedBytes::SharedBytes(SharedBytes&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedBytes& SharedBytes::operator=(SharedBytes&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

SharedBytes::~SharedBytes() {
  if (data_ != nullptr) ::munmap(data_, size_);
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace ridgeline::execute
