// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>

#include "base/clock.hpp"

namespace ridgeline::campaign {

/// The time of a run, which begins when this is made, and what is left of --max-time.
class Budget {
 public:
  /// `clock` must outlive the budget.
  Budget(const base::Clock& clock, std::optional<base::Nanoseconds> max_time) : clock_(clock), start_(clock.now()) {
    if (max_time) set_limit(*max_time);
  }

  [[nodiscard]] double elapsed_s() const { return base::to_seconds(clock_.now() - start_); }
  /// Of it, what counts.
  [[nodiscard]] double spent_s() const { return elapsed_s() - excluded_s_; }
  /// So much of what has passed does not count.
  void exclude_from_budget(double seconds) noexcept { excluded_s_ += seconds; }

  void set_limit(base::Nanoseconds limit) noexcept { limit_s_ = base::to_seconds(limit); }
  [[nodiscard]] bool is_limited() const noexcept { return limit_s_ < std::numeric_limits<double>::infinity(); }
  /// Infinite without a limit, as is what is left of it.
  [[nodiscard]] double limit_s() const noexcept { return limit_s_; }
  /// Of that share of the limit; below 0 once it is overrun.
  [[nodiscard]] double left_s(double share = 1) const { return share * limit_s_ - spent_s(); }
  [[nodiscard]] bool is_used_up(double share = 1) const { return left_s(share) <= 0; }

 private:
  const base::Clock& clock_;
  base::Nanoseconds start_;
  double limit_s_ = std::numeric_limits<double>::infinity();
  double excluded_s_ = 0;
};

}  // namespace ridgeline::campaign
