// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>

namespace ridgeline::host {

/// Processor time that a process has used so far, in all its threads, seen from outside: of nanoseconds, where the
/// ticks of /proc/PID/stat are of 10 ms. nullopt: it has been reaped.
[[nodiscard]] std::optional<double> process_cpu_s(pid_t pid) noexcept;

}  // namespace ridgeline::host
