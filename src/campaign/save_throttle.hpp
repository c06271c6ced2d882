// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace ridgeline::campaign {

/// How often the record of a run is saved while it grows: at most once a second, and for at most 2 % of the time. What
/// it consists of is saved on its own, so that nothing is lost in between.
class SaveThrottle {
 public:
  explicit SaveThrottle(const base::Clock& clock) : clock_(clock) {}

  /// Calls `save`, a function that returns base::Result<void>, when it is time.
  template <typename Save>
  [[nodiscard]] base::Result<void> when_due(Save save) {
    const auto begin = clock_.now();
    if (next_ && begin < *next_) return {};
    RL_TRY(save());
    const auto took = clock_.now() - begin;
    next_ = begin + std::max<base::Nanoseconds>(kEvery, took * kOneIn);
    return {};
  }

 private:
  static constexpr base::Nanoseconds kEvery = std::chrono::seconds(1);
  static constexpr int kOneIn = 50;

  const base::Clock& clock_;
  std::optional<base::Nanoseconds> next_;
};

}  // namespace ridgeline::campaign
