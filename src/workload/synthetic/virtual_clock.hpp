// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "base/clock.hpp"

namespace ridgeline::workload {

/// A clock that moves only when told to. Shared by all synthetic workloads of a process, so that both arms of a
/// comparison live in one time. Thread-safe.
class VirtualClock final : public base::Clock {
 public:
  [[nodiscard]] base::Nanoseconds now() const noexcept override {
    return base::Nanoseconds(now_ns_.load(std::memory_order_acquire));
  }
  /// Returns at once; time has passed.
  void sleep_for(base::Nanoseconds duration) const override {
    now_ns_.fetch_add(duration.count(), std::memory_order_acq_rel);
  }
  [[nodiscard]] std::string utc_now() const override { return base::system_clock().utc_now(); }

 private:
  mutable std::atomic<std::int64_t> now_ns_{1'000'000'000};
};

}  // namespace ridgeline::workload
