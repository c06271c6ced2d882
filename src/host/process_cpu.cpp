// SPDX-License-Identifier: Apache-2.0
#include "host/process_cpu.hpp"

#include <time.h>

namespace ridgeline::host {

std::optional<double> process_cpu_s(pid_t pid) noexcept {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return std::nullopt;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace ridgeline::host
