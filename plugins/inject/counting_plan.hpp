// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace ridgeline::inject {

/// Which steps are counted: two before the recorded ones, but not the first, as libraries are loaded from the second on
/// and most CUDA graphs are not captured yet; and two after recorded ones, if these launched graphs. The former of two
/// finds the caches empty, as switching counters leaves them, and only values of the latter are kept.
class CountingPlan {
 public:
  explicit CountingPlan(std::int64_t warmup_steps)
      : warmup_(warmup_steps), first_(std::max<std::int64_t>(2, warmup_steps - 1)) {}

  /// Whether the step that begins, by its number from 1 on, is the former of the first two.
  [[nodiscard]] bool first(std::int64_t step) const noexcept { return !counted_once_ && step >= first_; }
  /// Whether it may be the former of two for graphs, after so many recorded steps. `is_over`: no more are recorded.
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
