// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schema/profile.hpp"
#include "trace/analysis/nesting.hpp"
#include "trace/kernel_counters.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Metrics as Nsight Compute names them.
inline constexpr std::string_view kDramBytesRead = "dram__bytes_read.sum";
inline constexpr std::string_view kDramBytesWritten = "dram__bytes_write.sum";
inline constexpr std::string_view kTensorActivity = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";

/// Which row of a profiler's counters belongs to each kernel of a trace of the same program, recorded apart.
struct CounterJoin {
  std::vector<Place> row;                   ///< into KernelCounters, one for each of Trace::kernels; kNowhere: none
  std::vector<schema::BytesSource> source;  ///< of the bytes in that row
  std::size_t matched = 0;                  ///< rows of the counters that have a kernel
  /// Launches that only one side has, each with how many.
  std::vector<schema::Message> only_counters;
  std::vector<schema::Message> only_trace;
};

/// Kernels as they were launched; those of one launch, of a CUDA graph, by their begin.
[[nodiscard]] std::vector<Place> in_launch_order(const Trace& trace);

/// Launches are the same that have the same function with its template arguments, grid and block; of several that one
/// of the same place in the order of the launches, or of the kernels' begins where the trace has no launches. Where the
/// trace has a whole multiple of the counters' launches (the counters were recorded in one step of several), they
/// repeat.
[[nodiscard]] CounterJoin join_counters(const Trace& trace, const KernelCounters& counters);

/// DRAM bytes, read and written, of each of the trace's kernels; NaN where the counters do not tell, and where they say
/// what cannot be: a negative number, or more than 0.28 EB in all.
[[nodiscard]] std::vector<double> dram_bytes(const KernelCounters& counters, const CounterJoin& join);

/// Of counters that are joined with a trace: of which launches bytes are known, if not of all, and times
/// that tell of another program. `bytes`: of dram_bytes.
[[nodiscard]] std::vector<schema::Message> counter_notes(const Trace& trace, const KernelCounters& counters,
                                                         const CounterJoin& join, const std::vector<double>& bytes);
/// Of a trace with counters: which of them bytes need and are not there; empty: none.
[[nodiscard]] schema::Message missing_bytes(const KernelCounters& counters);

/// Share of its time for which the tensor cores worked, of each of the trace's kernels; NaN where the counters do not
/// tell.
[[nodiscard]] std::vector<double> tensor_shares(const KernelCounters& counters, const CounterJoin& join);

/// How many waves of blocks each of the trace's kernels runs in: 1.5 where its blocks fill the GPU one and a half
/// times; NaN where the counters do not tell.
[[nodiscard]] std::vector<double> launch_waves(const KernelCounters& counters, const CounterJoin& join);

}  // namespace ridgeline::trace
