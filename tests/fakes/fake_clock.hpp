// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

#include "base/clock.hpp"

namespace ridgeline::fakes {

/// Time that moves only when told to, or when somebody sleeps.
class FakeClock final : public base::Clock {
 public:
  [[nodiscard]] base::Nanoseconds now() const noexcept override { return base::Nanoseconds(now_.load()); }
  void sleep_for(base::Nanoseconds duration) const override {
    ++sleeps;
    advance(duration);
  }
  [[nodiscard]] std::string utc_now() const override { return base::format_utc(1763712000 + now_.load() / 1000000000); }
  void advance(base::Nanoseconds duration) const noexcept { now_ += duration.count(); }

  mutable std::atomic<int> sleeps{0};

 private:
  mutable std::atomic<std::int64_t> now_{1000};
};

}  // namespace ridgeline::fakes
