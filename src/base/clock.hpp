// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ridgeline::base {

using Nanoseconds = std::chrono::nanoseconds;

/// Durations come from the monotonic clock; UTC is only a label. Replaced by a fake in tests and by a virtual clock in
/// the synthetic workload. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Time since an arbitrary fixed point; never goes back. Costs about 25 ns.
  [[nodiscard]] virtual Nanoseconds now() const noexcept = 0;
  /// Blocks the caller for at least `duration`.
  virtual void sleep_for(Nanoseconds duration) const = 0;
  /// "2026-11-21T08:15:00Z".
  [[nodiscard]] virtual std::string utc_now() const = 0;
  /// Whether it shows what passes outside as well, so that what else runs on the machine shows in it.
  [[nodiscard]] virtual bool is_real() const noexcept { return false; }
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Nanoseconds now() const noexcept override;
  void sleep_for(Nanoseconds duration) const override;
  [[nodiscard]] std::string utc_now() const override;
  [[nodiscard]] bool is_real() const noexcept override { return true; }
};

/// The process-wide system clock (stateless).
[[nodiscard]] const Clock& system_clock() noexcept;

/// Seconds since the epoch as "YYYY-MM-DDTHH:MM:SSZ".
[[nodiscard]] std::string format_utc(std::int64_t epoch_seconds);

/// That text in the time zone of the process: "2026-11-21 09:15". Another text is returned as it is.
[[nodiscard]] std::string local_time(const std::string& utc);

[[nodiscard]] constexpr double to_seconds(Nanoseconds duration) noexcept {
  return static_cast<double>(duration.count()) * 1e-9;
}
[[nodiscard]] constexpr Nanoseconds from_seconds(double seconds) noexcept {
  return Nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

}  // namespace ridgeline::base
