// SPDX-License-Identifier: Apache-2.0
#include "monitor/host_probe.hpp"

#include "host/cgroup_limits.hpp"

namespace ridgeline::monitor {

HostReading HostProbe::read() {
  HostReading host;
  host.cpu_percent = cpu_.busy_percent();
  host.cpus = cpu_.cpus();
  const auto memory = host::read_memory_size(files_);
  host.memory_total_bytes = memory.total_bytes;
  if (memory.total_bytes && memory.available_bytes)
    host.memory_used_bytes = static_cast<double>(*memory.total_bytes - *memory.available_bytes);
  const auto limits = host::read_cgroup_limits(files_);
  host.cgroup_cpus = limits.cpu_quota;
  host.cgroup_memory_limit_bytes = limits.memory_bytes;
  host.cgroup_memory_used_bytes = limits.memory_used_bytes;
  host.load_1m = host::load_average(files_);
  return host;
}

}  // namespace ridgeline::monitor
