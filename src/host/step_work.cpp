// SPDX-License-Identifier: Apache-2.0
#include "host/step_work.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>

namespace ridgeline::host {
namespace {

double cpu_s(clockid_t clock) noexcept {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

StepWork::Clocks StepWork::now() noexcept {
  Clocks out;
  double ran_ns = 0;
  double waited_ns = 0;
  std::ifstream file("/proc/thread-self/schedstat");
  if (file >> ran_ns >> waited_ns) out.thread_waited = waited_ns * 1e-9;
  out.thread_cpu = cpu_s(CLOCK_THREAD_CPUTIME_ID);
  out.process_cpu = cpu_s(CLOCK_PROCESS_CPUTIME_ID);
  return out;
}

StepWork::Seconds StepWork::since() const noexcept {
  const auto end = now();
  const double used = end.thread_cpu - begin_.thread_cpu;
  return {used, std::max(0.0, end.process_cpu - begin_.process_cpu - used), end.thread_waited - begin_.thread_waited};
}

}  // namespace ridgeline::host
