// SPDX-License-Identifier: Apache-2.0
#include "workload/synthetic/virtual_clock.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "host/this_process.hpp"

namespace ridgeline::workload {
namespace {

constexpr std::size_t kBytes = sizeof(std::atomic<std::int64_t>);

base::Result<void*> mapped(int fd, const std::string& name) {
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory != MAP_FAILED) return memory;
  return base::fail(base::ErrorCode::io, "the simulated clock {} cannot be mapped: {}", name, std::strerror(errno));
}

}  // namespace

VirtualClock::VirtualClock() : now_ns_(&own_) {}

VirtualClock::~VirtualClock() {
  if (now_ns_ != &own_) ::munmap(now_ns_, kBytes);
  if (fd_ >= 0) ::close(fd_);
}

base::Result<std::shared_ptr<const VirtualClock>> VirtualClock::share() {
  const int fd = ::memfd_create("ridgeline-clock", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, kBytes) != 0) {
    const auto reason = std::string(std::strerror(errno));
    if (fd >= 0) ::close(fd);
    return base::fail(base::ErrorCode::io, "no memory for the simulated clock: {}", reason);
  }
  auto path = host::path_of_descriptor(fd);
  auto memory = mapped(fd, path);
  if (!memory) {
    ::close(fd);
    return tl::unexpected<base::Error>(std::move(memory).error());
  }
  return std::shared_ptr<const VirtualClock>(new VirtualClock(new (*memory) Cell(kBegin.count()), fd, std::move(path)));
}

base::Result<std::shared_ptr<const VirtualClock>> VirtualClock::attach(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0)
    return base::fail(base::ErrorCode::io, "the simulated clock {} cannot be opened: {}", path, std::strerror(errno));
  auto memory = mapped(fd, path);
  ::close(fd);
  if (!memory) return tl::unexpected<base::Error>(std::move(memory).error());
  return std::shared_ptr<const VirtualClock>(new VirtualClock(static_cast<Cell*>(*memory), -1, ""));
}

}  // namespace ridgeline::workload
