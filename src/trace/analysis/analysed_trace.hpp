// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "schema/profile.hpp"
#include "trace/analysis/clock_fit.hpp"
#include "trace/analysis/gaps.hpp"
#include "trace/analysis/launch_index.hpp"
#include "trace/analysis/launching_lines.hpp"
#include "trace/analysis/modules.hpp"
#include "trace/analysis/nesting.hpp"
#include "trace/analysis/node_nesting.hpp"
#include "trace/analysis/observed_time.hpp"
#include "trace/analysis/steps.hpp"
#include "trace/analysis/unusual_runs.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Work of a GPU by its place in the program.
struct PlacedWork {
  std::vector<Place> call;  ///< into Trace::calls, one for each of the work; kNowhere: unknown
  std::vector<Place> row;   ///< into Attribution::rows
  std::vector<Place> step;  ///< into Steps::steps: in which it was launched; kNowhere: in none
};

/// A trace with all that follows from its events one by one: what tables and findings are made of.
struct AnalysedTrace {
  explicit AnalysedTrace(const Trace& of);

  const Trace& trace;
  Nesting nesting;
  LaunchIndex launches;
  Steps steps;
  NodeNesting nodes;
  std::vector<Place> step_of_node;  ///< into Steps::steps: of the run that it belongs to; kNowhere: none
  std::vector<bool> unusual_runs;   ///< of each step; what all runs take has no part of it
  Attribution attribution;
  LaunchingLines lines;
  PlacedWork kernels;
  PlacedWork copies;
  PlacedWork sets;
  ClockFit clocks;
  std::vector<bool> is_collective;  ///< of each kernel: it is communication between GPUs
  std::map<ProcessDevice, ObservedTime> observed;
  std::vector<Gap> gaps;
  std::vector<double> kernel_bytes;  ///< DRAM, of each kernel by a profiler's counters; empty: of none; NaN: unknown
  std::vector<schema::BytesSource> kernel_bytes_source;  ///< of each kernel; empty: unknown
  std::vector<std::int64_t> kernel_bytes_step;  ///< of the program, in which they were counted, 0: none; empty: unknown
  std::vector<double> kernel_waves;             ///< of blocks, of each kernel, likewise
  std::vector<double> kernel_tensor;            ///< share of its time with tensor cores at work, likewise

  /// Whether what the host did tells why the GPU had no work.
  [[nodiscard]] bool knows_idle_time() const noexcept { return !trace.lacks_work && clocks.fits(); }

  /// DRAM bytes of a kernel; NaN: unknown.
  [[nodiscard]] double bytes_of(std::size_t kernel) const {
    return kernel_bytes.empty() ? std::numeric_limits<double>::quiet_NaN() : kernel_bytes[kernel];
  }
  [[nodiscard]] schema::BytesSource bytes_source(std::size_t kernel) const {
    return kernel_bytes_source.empty() ? schema::BytesSource::unknown : kernel_bytes_source[kernel];
  }

  /// Of a run that is left out.
  [[nodiscard]] bool is_unusual(std::size_t node) const {
    const auto step = step_of_node[node];
    return step != kNowhere && unusual_runs[step];
  }

  /// Launched by the backward pass.
  [[nodiscard]] bool is_backward(Place call) const {
    const auto range = call == kNowhere ? kNowhere : nesting.range_of_call[call];
    return range != kNowhere && attribution.is_backward[range];
  }

  /// Names of the ranges around a call, the innermost first; none where it is not known.
  [[nodiscard]] std::vector<std::string_view> names_around(Place call) const;

 private:
  [[nodiscard]] std::vector<bool> find_collectives() const;
  [[nodiscard]] PlacedWork place(const Spans& work) const;
  /// Replays of CUDA graphs are where the graph was captured.
  [[nodiscard]] PlacedWork place_kernels() const;
};

}  // namespace ridgeline::trace
