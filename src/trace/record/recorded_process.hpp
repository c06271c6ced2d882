// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::trace {

enum class RecordingState {
  recording,
  waiting,       ///< for the moment from which on it is to be recorded
  no_cupti,      ///< the library that records work of a GPU is not there, or does not fit
  busy,          ///< another profiler has that library
  stopped_full,  ///< the file reached its size, or as many events as can be read
};

/// Whether the bytes of launches were counted, and why not.
enum class CountingState {
  none,  ///< it was not to be
  counted,
  no_steps,  ///< none began that could have been counted
  no_privilege,
  busy,         ///< another profiler has the counters
  unsupported,  ///< by the GPU, its driver or CUPTI
  concurrent,   ///< kernels that run at the same time would have run one by one
  collectives,  ///< kernels that wait for other GPUs would have waited for ever
  too_many,     ///< launches: it stopped at so many
  failed,
};

/// What a recorded process says of itself (PID.facts).
struct RecordedProcess {
  std::int64_t pid = 0;
  std::string name;  ///< its command line
  RecordingState state = RecordingState::recording;
  std::string why;  ///< it does not record; "" where it does
  CountingState counters = CountingState::none;
  std::string counters_why;          ///< in the recorder's words; ""
  std::int64_t dropped = 0;          ///< records that the profiler lost
  std::int64_t zero_time = 0;        ///< records without a time, left out
  std::int64_t lines = -1;           ///< calls of CUDA whose line of Python is known; -1: they were not asked for
  bool uses_cuda = true;             ///< false: it has ranges only
  bool calls_profiler_api = false;   ///< cudaProfilerStart or cudaProfilerStop
  std::int64_t bytes = 0;            ///< of its file so far
  std::int64_t begun_ns = 0;         ///< by a clock that all processes share
  std::int64_t seen_ns = 0;          ///< when it said all of this
  std::int64_t recorded_steps = 0;   ///< that have ended
  std::int64_t step_without_ns = 0;  ///< median step after the recorded ones, without recording; 0: not measured
  std::int64_t step_with_ns = 0;     ///< and with it
  std::int64_t step_spread_ns = 0;   ///< how much such medians differ
  std::map<std::int32_t, std::string> devices;  ///< UUIDs of its GPUs, by its own numbers
  std::int64_t events = 0;                      ///< of its file so far
  bool full_of_events = false;                  ///< stopped_full by them, not by bytes
  bool finished = false;                        ///< it ended its recording; else it was killed, or goes on
};

/// Those that recorded something, if any did: compilers and the like start helpers that only open CUDA.
[[nodiscard]] std::vector<RecordedProcess> with_events(const std::vector<RecordedProcess>& processes);

/// Lines "key=value". Keys that are not known are of a newer library, and mean nothing here.
[[nodiscard]] RecordedProcess read_facts(std::string_view text);

}  // namespace ridgeline::trace
