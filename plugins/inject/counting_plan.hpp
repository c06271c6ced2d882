// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ridgeline::inject {

/// Which steps are counted: one before the recorded ones, or the second, when libraries are loaded and most CUDA graphs
/// are not captured yet; and one after recorded ones, if these launched graphs.
class CountingPlan {
 public:
  explicit CountingPlan(std::int64_t warmup_steps)
      : warmup_(warmup_steps), first_(warmup_steps >= 2 ? warmup_steps : 2) {}

  /// Whether the step that begins, by its number from 1 on, is the first to be counted.
  [[nodiscard]] bool first(std::int64_t step) const noexcept { return !counted_once_ && step >= first_; }
  /// Whether it may be one for graphs, after so many recorded steps. `is_over`: no more are recorded.
  [[nodiscard]] bool second(std::int64_t recorded, bool is_over) const noexcept {
    return counted_once_ && !counted_twice_ && (is_over || recorded >= kRecordedFirst);
  }
  /// Whether the step is one that would be recorded otherwise.
  [[nodiscard]] bool takes_recorded(std::int64_t step) const noexcept { return step > warmup_; }
  /// No further step is counted.
  void end() noexcept { counted_once_ = counted_twice_ = true; }
  void count_first() noexcept { counted_once_ = true; }

 private:
  static constexpr std::int64_t kRecordedFirst = 3;

  const std::int64_t warmup_;
  const std::int64_t first_;
  bool counted_once_ = false;
  bool counted_twice_ = false;
};

}  // namespace ridgeline::inject
