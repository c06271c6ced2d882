// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ridgeline::inject {

/// Which steps are counted: some before the recorded ones, but not the first, as libraries are loaded from the second
/// on and most CUDA graphs are not captured yet; and some after recorded ones, if these launched graphs. Values of the
/// last alone are kept: switching counters on empties the caches, and a small model needs several steps to fill them
/// again.
class CountingPlan {
 public:
  explicit CountingPlan(std::int64_t warmup_steps)
      : warmup_(warmup_steps), first_(std::max<std::int64_t>(2, warmup_steps - kMostToFillCaches)) {}

  /// Whether the step that begins is the one before.
  [[nodiscard]] bool precedes(std::int64_t step) const noexcept { return !counted_once_ && step == first_ - 1; }
  /// Whether the step that begins, by its number from 1 on, is the first of the first ones.
  [[nodiscard]] bool first(std::int64_t step) const noexcept { return !counted_once_ && step >= first_; }
  /// Whether it may be the first of those for graphs, after so many recorded steps. `is_over`: no more are recorded.
  [[nodiscard]] bool second(std::int64_t recorded, bool is_over) const noexcept {
    return counted_once_ && !counted_twice_ && (is_over || recorded >= kRecordedFirst);
  }
  /// Whether the step is one that would be recorded otherwise.
  [[nodiscard]] bool takes_recorded(std::int64_t step) const noexcept { return step > warmup_; }
  /// No further step is counted.
  void end() noexcept { counted_once_ = counted_twice_ = true; }
  void count_first() noexcept { counted_once_ = true; }

  /// Steps that are counted to fill the caches, where each makes so many launches. Counting takes time for
  /// each launch, and what many launches read and write does not stay in caches anyway.
  [[nodiscard]] static int steps_to_fill_caches(std::size_t launches) noexcept {
    return launches > kFewLaunches ? 1 : kMostToFillCaches;
  }

 private:
  static constexpr int kMostToFillCaches = 3;
  static constexpr std::size_t kFewLaunches = 500;
  static constexpr std::int64_t kRecordedFirst = 3;

  const std::int64_t warmup_;
  const std::int64_t first_;
  bool counted_once_ = false;
  bool counted_twice_ = false;
};

}  // namespace ridgeline::inject
