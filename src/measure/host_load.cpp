// SPDX-License-Identifier: Apache-2.0
#include "measure/host_load.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/clock.hpp"

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
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/stat", "re"), &std::fclose);
  if (!file) return std::nullopt;
  Counters counters;
  char line[512];  // one CPU has less; what follows the CPUs is not read
  const double tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  while (std::fgets(line, sizeof(line), file.get()) != nullptr && std::strncmp(line, "cpu", 3) == 0) {
    int cpu = 0;
    // user nice system idle iowait irq softirq steal
    long long ticks[8] = {};
    if (std::sscanf(line, "cpu%d %lld %lld %lld %lld %lld %lld %lld %lld", &cpu, &ticks[0], &ticks[1], &ticks[2],
                    &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]) < 9)
      continue;
    if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &mine)) continue;
    counters.idle_s += tick_s * static_cast<double>(ticks[3] + ticks[4]);
    for (const int i : {0, 1, 2, 5, 6, 7}) counters.busy_s += tick_s * static_cast<double>(ticks[i]);
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
