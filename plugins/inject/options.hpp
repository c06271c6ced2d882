// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ridgeline::inject {

/// How bytes are counted: in steps of the recorded run, in a run that does nothing else, or not at all.
enum class CounterMode : std::uint8_t { none, window, rerun };

/// What `ridgeline profile` asks for (environment variable RIDGELINE_TRACE_OPTIONS: "key=value" joined by ";").
struct Options {
  std::uint64_t max_bytes = 0;   ///< of the trace file; 0: any
  std::uint64_t max_events = 0;  ///< in it; 0: any
  std::string range;             ///< only what is within ranges of this name; "": all
  std::int64_t warmup_steps = 0;
  std::int64_t steps = 0;     ///< recorded after these; 0: all
  bool profiler_api = false;  ///< only between cudaProfilerStart and cudaProfilerStop
  bool lines = false;         ///< of Python that call CUDA
  bool hooks = true;          ///< Python programs report calls of the profiler's API themselves
  double delay_s = 0;
  std::int64_t start_ns = 0;  ///< of the program, by now_ns(): the delay counts from it; 0: from the first call
  double duration_s = 0;      ///< recorded after that; 0: to the end
  CounterMode counters = CounterMode::none;
  bool counters_force = false;  ///< also where kernels of several streams run at once

  /// Keys that are not known, and values that are no numbers, are left out: a newer program may ask for more.
  [[nodiscard]] static Options parse(std::string_view text);
};

}  // namespace ridgeline::inject
