// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace ridgeline::gpu {

/// What a GPU did while one part of the timed window ran.
struct RoundReading {
  std::optional<double> throttled_s;   ///< growth of the fastest growing throttle counter; nullopt: none is readable
  std::optional<double> sm_clock_mhz;  ///< median over the part
  std::optional<int> others{};         ///< most processes of somebody else that were seen on the GPU in it
  std::optional<double> held_share{};  ///< of its samples, those with a reason that throttles the clocks; nullopt: no
                                       ///< reasons were read
};

/// What was timed between begin_timing and end_timing.
struct TimedTotals {
  double items = 0;        ///< all that the GPU worked on, counted or not
  double kept_s = 0;       ///< of the rounds that count
  double discarded_s = 0;  ///< of those thrown away (measure::ThrottleGuard)
  std::int64_t discarded_parts = 0;
};

/// What the measurement asks of a GPU's observer. Called by the timing thread between rounds only, never between two
/// inferences of a round. Replaced by a fake in tests.
class RoundWatch {
 public:
  virtual ~RoundWatch() = default;
  /// Warm-up is over: from here on every sample belongs to the timed window.
  virtual void begin_timing() = 0;
  /// Parts follow each other without overlap.
  virtual void begin_part() = 0;
  [[nodiscard]] virtual RoundReading end_part() = 0;
  virtual void end_timing(const TimedTotals& totals) = 0;
  /// Processes of somebody else that are on the GPU now; nullopt: cannot be read.
  [[nodiscard]] virtual std::optional<int> neighbours() = 0;
};

}  // namespace ridgeline::gpu
