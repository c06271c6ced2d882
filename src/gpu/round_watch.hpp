// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace ridgeline::gpu {

/// What a GPU did while one part of the timed window ran.
struct RoundReading {
  std::optional<double> throttled_s;  ///< growth of the fastest growing throttle counter; nullopt: none is readable
  std::optional<double> sm_clock_mhz; ///< median over the part
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
  /// `items`: all that the GPU worked on since begin_timing, counted or not.
  virtual void end_timing(double items) = 0;
  /// Processes of somebody else that are on the GPU now; nullopt: cannot be read.
  [[nodiscard]] virtual std::optional<int> neighbours() = 0;
};

}  // namespace ridgeline::gpu
