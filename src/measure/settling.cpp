// SPDX-License-Identifier: Apache-2.0
#include "measure/settling.hpp"

#include <algorithm>
#include <chrono>

#include "host/this_process.hpp"

namespace ridgeline::measure {
namespace {

constexpr base::Nanoseconds kStep = std::chrono::milliseconds(1);

}  // namespace

base::Nanoseconds settle(base::Nanoseconds limit) {
  const auto& clock = base::system_clock();
  const auto begin = clock.now();
  base::Nanoseconds slept{};
  do {
    clock.sleep_for(std::min(kStep, limit - slept));
    slept = clock.now() - begin;
  } while (slept < limit && host::another_thread_runs());
  return slept;
}

}  // namespace ridgeline::measure
