// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tracefile/events.hpp"

namespace ridgeline::inject {

/// How counting went; none: it was not asked for.
enum class CounterState : std::uint8_t {
  none,
  counted,
  no_steps,
  no_privilege,
  busy,  ///< another process or profiler has the counters
  unsupported,
  concurrent,   ///< kernels of several streams run at once, and one may wait for another
  collectives,  ///< kernels that may wait for another GPU
  too_many,     ///< more launches than one window holds; the first of them are counted
  failed,
};
/// As the .facts file has it.
[[nodiscard]] const char* name_of(CounterState state);

/// What was counted for a launch; negative: it was not.
struct CounterValues {
  double dram_read_bytes = -1;
  double dram_write_bytes = -1;
  double l2_bytes = -1;
  double duration_ns = -1;
  double tensor_percent = -1;
};

/// A launch that ran alone while the GPU counted.
struct CountedLaunch {
  std::string kernel;  ///< its mangled name; "": a CUDA graph
  trace::Dim3 grid;
  trace::Dim3 block;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t device = 0;
  std::int64_t start_ns = 0;  ///< of the launching call
  std::uint32_t path = 0;     ///< of RangeNames: the ranges around it
  std::int64_t step = 0;
  CounterValues values;
};

/// How a LaunchCounters went so far.
struct CounterOutcome {
  CounterState state = CounterState::none;
  std::string why;             ///< of a state that is not `counted`, or of what is missing
  std::uint64_t launches = 0;  ///< counted
  std::uint64_t left_out = 0;  ///< launched while counting, without values of their own
  bool graphs = false;         ///< CUDA graphs are among them
};

/// What LaunchCounters asks of the recorder, on the thread that launches.
class LaunchPlaces {
 public:
  virtual ~LaunchPlaces() = default;
  /// The ranges that are open, as a number of RangeNames.
  [[nodiscard]] virtual std::uint32_t launch_path() = 0;
};

/// Counts bytes of launches by CUPTI's range profiler: each launch is one range, and launches run one by one. CUPTI
/// must not record activities meanwhile.
class LaunchCounters {
 public:
  virtual ~LaunchCounters() = default;
  /// A step like the counted ones begins: watched_launches() has how many launches it made, once it has ended.
  virtual void watch() = 0;
  [[nodiscard]] virtual std::size_t watched_launches() const = 0;
  /// Counts from now on, with room for so many launches at first, in contexts that this thread launches into. Whether
  /// it does; outcome() says why not.
  [[nodiscard]] virtual bool open(std::size_t launches) = 0;
  /// Counts from the next launch on, whichever thread makes it and in any number of launches.
  virtual void open_with_launches() = 0;
  /// Ends it, and reads the values; by the thread that opened it, or as the process ends.
  virtual void close() = 0;
  /// Ends it with the next launch, on the thread of that.
  virtual void close_with_launches() = 0;
  /// Whether it counts, or will with the next launch.
  [[nodiscard]] virtual bool is_open() const = 0;
  /// A CUDA graph is captured from now on, or no longer: launches into it do not run.
  virtual void capture(bool begins) = 0;
  [[nodiscard]] virtual bool is_capturing() const = 0;
  /// `keeps`: whether the values of its launches are wanted.
  virtual void set_step(std::int64_t step, bool keeps) = 0;

  /// It cannot, or must not, go on; outcome() has the reason.
  [[nodiscard]] virtual bool is_over() const = 0;
  /// The launches whose values were read since the last call.
  [[nodiscard]] virtual std::vector<CountedLaunch> take() = 0;
  [[nodiscard]] virtual CounterOutcome outcome() const = 0;
};

}  // namespace ridgeline::inject
