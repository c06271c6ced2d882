// SPDX-License-Identifier: Apache-2.0
#include "workload/synthetic/fault_injection.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string>
#include <thread>

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

constexpr std::size_t kFloodBytes = std::size_t{8} << 20U;
constexpr std::size_t kAllocationStep = std::size_t{256} << 20U;
constexpr std::size_t kAllocationLimit = std::size_t{64} << 30U;
constexpr long kReportedAllocation = 34359738368;
constexpr int kExitCode = 3;

void write_all(int fd, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto wrote = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

void write_to_unmapped_page() {
  void* page = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<volatile char*>(page) = 1;
}

/// Reserves without touching: an address-space limit stops it at once, and a machine without one is not driven to swap.
base::Result<void> allocate_until_refused() {
  for (std::size_t total = 0; total < kAllocationLimit; total += kAllocationStep) {
    void* block = ::operator new(kAllocationStep, std::nothrow);
    if (block == nullptr)
      return base::fail(ErrorCode::out_of_memory, "Failed to allocate memory for requested buffer of size {}",
                        kAllocationStep);
    *static_cast<volatile char*>(block) = 1;
  }
  return base::fail(ErrorCode::out_of_memory, "reserved {} bytes and stopped", kAllocationLimit);
}

void leave_grandchild() {
  if (::fork() == 0) {
    for (;;) ::pause();
  }
}

void leave_busy_thread() {
  std::thread([] {
    for (volatile bool go_on = true; go_on;) {
    }
  }).detach();
}

}  // namespace

base::Result<void> inject_fault(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::segv: write_to_unmapped_page(); break;
    case FaultKind::abort: std::abort();
    case FaultKind::kill: ::raise(SIGKILL); break;
    case FaultKind::stop: ::kill(::getpid(), SIGSTOP); break;
    case FaultKind::exit: std::exit(kExitCode);
    case FaultKind::hang:
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    case FaultKind::oom:
      return base::fail(ErrorCode::out_of_memory, "Failed to allocate memory for requested buffer of size {}",
                        kReportedAllocation);
    case FaultKind::alloc: return allocate_until_refused();
    case FaultKind::fail: return base::fail(ErrorCode::internal, "injected failure of the runtime");
    case FaultKind::invalid: return base::fail(ErrorCode::invalid_argument, "injected illegal option");
    case FaultKind::unsupported:
      return base::fail(ErrorCode::unsupported, "could not find an implementation for Fictitious(99) node");
    case FaultKind::stderr_flood:
      write_all(STDERR_FILENO, std::string(kFloodBytes, 'e') + "\nlast line of the flood\n");
      break;
    case FaultKind::stdout_rubbish: {
      std::string rubbish;
      for (int i = 0; i < 4096; ++i) rubbish.push_back(static_cast<char>(i * 37));
      write_all(STDOUT_FILENO, rubbish);
      break;
    }
    case FaultKind::grandchild: leave_grandchild(); break;
    case FaultKind::spin: leave_busy_thread(); break;
    case FaultKind::nan: break;  // the outputs carry it
  }
  return {};
}

}  // namespace ridgeline::workload
