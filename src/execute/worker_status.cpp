// SPDX-License-Identifier: Apache-2.0
#include "execute/worker_status.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace ridgeline::execute {
namespace {

void* map(int fd) noexcept {
  void* memory = ::mmap(nullptr, sizeof(WorkerStatus), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

base::Result<SharedStatus> SharedStatus::create() {
  SharedStatus shared;
  shared.fd_ = ::memfd_create("ridgeline-status", MFD_CLOEXEC);
  void* memory = nullptr;
  if (shared.fd_ >= 0 && ::ftruncate(shared.fd_, sizeof(WorkerStatus)) == 0) memory = map(shared.fd_);
  if (memory == nullptr)
    return base::fail(base::ErrorCode::io, "cannot share memory with a worker: {}", std::strerror(errno));
  shared.status_ = new (memory) WorkerStatus;
  return shared;
}

base::Result<SharedStatus> SharedStatus::attach(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || info.st_size != static_cast<off_t>(sizeof(WorkerStatus)))
    return base::fail(base::ErrorCode::invalid_argument, "file descriptor {} is not the status memory of a parent", fd);
  void* memory = map(fd);
  if (memory == nullptr)
    return base::fail(base::ErrorCode::io, "cannot map the status memory of the parent: {}", std::strerror(errno));
  SharedStatus shared;
  shared.status_ = std::launder(static_cast<WorkerStatus*>(memory));
  return shared;
}

SharedStatus::SharedStatus(SharedStatus&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), status_(std::exchange(other.status_, nullptr)) {}

SharedStatus& SharedStatus::operator=(SharedStatus&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(status_, other.status_);
  return *this;
}

SharedStatus::~SharedStatus() {
  if (status_ != nullptr) ::munmap(status_, sizeof(WorkerStatus));
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace ridgeline::execute
