// SPDX-License-Identifier: Apache-2.0
#include "measure/host_load.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "host/load.hpp"

namespace ridgeline::measure {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

std::optional<HostLoad::Counters> HostLoad::read() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (::sched_getaffinity(0, sizeof(mine), &mine) != 0) return std::nullopt;
  const auto times = host::read_cpu_times();
  if (!times) return std::nullopt;
  Counters counters;
  const double tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  for (const auto& [cpu, ticks] : times->cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &mine)) continue;
    counters.idle_s += tick_s * static_cast<double>(ticks.idle);
    counters.busy_s += tick_s * static_cast<double>(ticks.busy);
  }
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) counters.own_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  counters.wall_s = base::to_seconds(base::system_clock().now());
  return counters;
}

double HostLoad::taken(const std::optional<Counters>& before, const std::optional<Counters>& after) {
  if (!before || !after) return 0;
  const double wall_s = after->wall_s - before->wall_s;
  if (wall_s < kLeastS) return 0;
  const double others = ((after->busy_s - before->busy_s) - (after->own_s - before->own_s)) / wall_s;
  const double idle = (after->idle_s - before->idle_s) / wall_s;
  return others > 0 && idle < others / 2 ? others : 0;
}

}  // namespace ridgeline::measure
