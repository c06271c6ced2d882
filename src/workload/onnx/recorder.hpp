// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ridgeline::workload {

/// A time of std::chrono::high_resolution_clock of another library, which is the system's clock (libstdc++) or
/// CLOCK_MONOTONIC (libc++), on CLOCK_MONOTONIC, as the library that records this process has it.
[[nodiscard]] std::int64_t on_recorder_clock(std::int64_t time_ns);

/// Writes what the library that records this process has so far, if one does (RIDGELINE_TRACE_LIBRARY).
void flush_recorder();

}  // namespace ridgeline::workload
