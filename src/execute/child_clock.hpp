// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "base/clock.hpp"

namespace ridgeline::execute {

/// The system's clock without the time that calls to another process take on top of what is to be timed there.
class ChildClock final : public base::Clock {
 public:
  /// So much of what has passed does not count; a call of `really` took `inside` by the other process's own clock.
  void hide(base::Nanoseconds really, base::Nanoseconds inside) noexcept {
    if (really > inside) hidden_ns_.fetch_add((really - inside).count(), std::memory_order_relaxed);
  }

  /// So much more is to count: a call that took it was made before, within what is hidden.
  void count(base::Nanoseconds inside) noexcept { hidden_ns_.fetch_sub(inside.count(), std::memory_order_relaxed); }

  [[nodiscard]] base::Nanoseconds now() const noexcept override {
    return base::system_clock().now() - base::Nanoseconds(hidden_ns_.load(std::memory_order_relaxed));
  }
  void sleep_for(base::Nanoseconds duration) const override { base::system_clock().sleep_for(duration); }
  [[nodiscard]] std::string utc_now() const override { return base::system_clock().utc_now(); }
  [[nodiscard]] bool is_real() const noexcept override { return true; }

 private:
  std::atomic<std::int64_t> hidden_ns_{0};
};

}  // namespace ridgeline::execute
