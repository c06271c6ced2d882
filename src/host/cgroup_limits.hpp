// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/system_files.hpp"

namespace ridgeline::host {

/// What a container or service unit allows this process; nullopt: no limit.
struct CgroupLimits {
  std::optional<double> cpu_quota;  ///< CPUs' worth of time, 1.5 = 150 ms in 100 ms
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> memory_used_bytes;  ///< of the group whose limit counts, reclaimable file cache left out
};

/// The tightest limit of the process's own cgroup and its ancestors, version 1, 2 or both mounted (hybrid). Inside a
/// container /proc/self/cgroup may name a path of the host that is not mounted here; the mount's top is used then.
[[nodiscard]] CgroupLimits read_cgroup_limits(const SystemFiles& files);

/// Processes of this control group (version 2, else 1; else of the whole host) that the kernel has killed for want of
/// memory, ever; nullopt when it is not known.
[[nodiscard]] std::optional<std::int64_t> oom_kills(const SystemFiles& files = SystemFiles());

}  // namespace ridgeline::host
