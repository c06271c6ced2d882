// SPDX-License-Identifier: Apache-2.0
#include "measure/settling.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>

#include "base/file.hpp"

namespace ridgeline::measure {
namespace {

constexpr base::Nanoseconds kStep = std::chrono::milliseconds(1);

/// By the states of the threads: the process's CPU time counts what runs on another core only from tick to tick.
bool another_thread_runs() {
  const auto own = std::to_string(::gettid());
  std::error_code failed;
  for (std::filesystem::directory_iterator at("/proc/self/task", failed), end; !failed && at != end;
       at.increment(failed)) {
    if (at->path().filename() == own) continue;
    const auto stat = base::read_file(at->path() / "stat");  // number (name) state ...
    if (!stat) continue;                                     // it has ended
    const auto name_end = stat->rfind(") ");
    if (name_end != std::string::npos && stat->compare(name_end, 3, ") R") == 0) return true;
  }
  return false;
}

}  // namespace

base::Nanoseconds settle(base::Nanoseconds limit) {
  const auto& clock = base::system_clock();
  const auto begin = clock.now();
  base::Nanoseconds slept{};
  do {
    clock.sleep_for(std::min(kStep, limit - slept));
    slept = clock.now() - begin;
  } while (slept < limit && another_thread_runs());
  return slept;
}

}  // namespace ridgeline::measure
