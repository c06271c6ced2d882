// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/recorder.hpp"

#include <dlfcn.h>
#include <time.h>

#include <cstdlib>
#include <limits>

namespace ridgeline::workload {
namespace {

constexpr int kReadings = 5;

std::int64_t read_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// From the pair of readings that lie closest together.
std::int64_t system_ahead_ns() {
  std::int64_t ahead = 0;
  auto closest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < kReadings; ++i) {
    const auto begin = read_ns(CLOCK_MONOTONIC);
    const auto system = read_ns(CLOCK_REALTIME);
    const auto end = read_ns(CLOCK_MONOTONIC);
    if (end - begin >= closest) continue;
    closest = end - begin;
    ahead = system - (begin + (end - begin) / 2);
  }
  return ahead;
}

}  // namespace

std::int64_t on_recorder_clock(std::int64_t time_ns) {
  const auto ahead = system_ahead_ns();
  const auto now = read_ns(CLOCK_MONOTONIC);
  return std::abs(time_ns - ahead - now) < std::abs(time_ns - now) ? time_ns - ahead : time_ns;
}

void flush_recorder() {
  const char* path = std::getenv("RIDGELINE_TRACE_LIBRARY");
  if (path == nullptr) return;
  void* library = ::dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return;  // the process has not used CUDA
  if (auto* flush = reinterpret_cast<void (*)()>(::dlsym(library, "ridgeline_trace_flush")); flush != nullptr) flush();
  ::dlclose(library);
}

}  // namespace ridgeline::workload
