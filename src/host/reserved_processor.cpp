// SPDX-License-Identifier: Apache-2.0
#include "host/reserved_processor.hpp"

#include <sched.h>

namespace ridgeline::host {

std::optional<ReservedProcessor> ReservedProcessor::take() {
  cpu_set_t all;
  CPU_ZERO(&all);
  if (::sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < kLeastProcessors) return std::nullopt;
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &all)) --last;
  CPU_CLR(last, &all);
  if (::sched_setaffinity(0, sizeof all, &all) != 0) return std::nullopt;
  return ReservedProcessor(last, CPU_COUNT(&all));
}

bool ReservedProcessor::enter() const {
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(processor_, &own);
  return ::sched_setaffinity(0, sizeof own, &own) == 0;
}

}  // namespace ridgeline::host
