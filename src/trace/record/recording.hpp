// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "trace/record/recorded_process.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// What reading and analysing a recording takes per event, in bytes of memory. Measured: 170, on 10.7 million events
/// (5 million kernels with their launches, and modules).
inline constexpr std::int64_t kMemoryPerEvent = 200;

/// What the processes of a program recorded.
struct Recording {
  Trace trace;  ///< of all of them, with notes of what is missing
  std::vector<RecordedProcess> processes;
  std::int64_t bytes = 0;                       ///< of their files
  std::int64_t events = 0;                      ///< in the trace
  std::map<std::string, std::int32_t> devices;  ///< numbers of the GPUs in the trace, by UUID
};

/// What the processes say of their recordings now, while they may still run (PID.facts).
[[nodiscard]] std::vector<RecordedProcess> read_processes(const std::filesystem::path& folder);

/// Reads PID.rltrace and PID.facts of every process. Files that end early give what they have; one that cannot be read
/// costs a note. Errors: the folder cannot be read.
[[nodiscard]] base::Result<Recording> read_recording(const std::filesystem::path& folder);

}  // namespace ridgeline::trace
