// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "gpu/round_watch.hpp"
#include "schema/measurement.hpp"

namespace ridgeline::measure {

/// Decides which parts of a timed window count. A part is set aside when throttle counters grew by more than 5 % of it
/// (where none is readable: when most of its samples say that something held clocks down), when its SM clock was below
/// 75 % of the highest clock of the parts that were not throttled, or when more processes of somebody else were on the
/// GPU than in the emptiest part. A card that throttles all the time cannot be measured otherwise: once more than half
/// of the budget would be lost, or each of the first kPatience parts, everything counts again and the result is
/// flagged.
class ThrottleGuard {
 public:
  static constexpr double kMaxThrottledShare = 0.05;
  static constexpr double kMostSamples = 0.5;
  static constexpr double kLeastClockShare = 0.75;
  static constexpr std::size_t kPatience = 4;

  explicit ThrottleGuard(double budget_s) : budget_s_(budget_s) {}

  /// The next part. May also change the verdict on earlier ones: a later, higher clock shows that they were slow.
  void add(double wall_s, const gpu::RoundReading& reading);

  [[nodiscard]] std::size_t parts() const noexcept { return parts_.size(); }
  [[nodiscard]] bool kept(std::size_t part) const { return gave_up_ || parts_[part].kept; }
  [[nodiscard]] bool gave_up() const noexcept { return gave_up_; }
  [[nodiscard]] double discarded_s() const noexcept;  ///< 0 after giving up
  [[nodiscard]] std::size_t discarded() const noexcept;

  /// "throttled" (notice) after giving up, "throttled_rounds" (info) when parts were discarded; "gpu_shared" and
  /// "shared_rounds" where that was for other processes alone.
  [[nodiscard]] std::optional<schema::QualityFlag> flag() const;

 private:
  struct Part {
    double wall_s = 0;
    gpu::RoundReading reading;
    bool throttled = false;
    bool shared = false;
    bool kept = true;
  };

  double budget_s_;
  std::vector<Part> parts_;
  std::optional<int> least_others_;
  bool gave_up_ = false;
};

/// "gpu_shared" (notice) when somebody else's process was on the GPU at the start or at the end.
[[nodiscard]] std::optional<schema::QualityFlag> judge_neighbours(std::optional<int> before, std::optional<int> after);

}  // namespace ridgeline::measure
