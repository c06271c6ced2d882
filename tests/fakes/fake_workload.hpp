// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <utility>

#include "fakes/fake_clock.hpp"
#include "workload/workload.hpp"

namespace ridgeline::fakes {

inline constexpr double kMillisecond = 1e6;  ///< in nanoseconds

/// A workload whose inferences take the time that a function says, on a FakeClock (or really, when told to sleep).
class FakeWorkload final : public workload::Workload {
 public:
  static constexpr int kMaxLanes = 8;
  /// Nanoseconds of inference `index` (from 0) of `lane`.
  using Latency = std::function<double(int lane, std::int64_t index)>;

  explicit FakeWorkload(Latency latency, int lanes = 1) : latency_(std::move(latency)), lanes_(lanes) {}

  [[nodiscard]] base::Result<void> prepare() override { return {}; }
  [[nodiscard]] schema::TrialPhase phase() const noexcept override { return schema::TrialPhase::create_session; }
  [[nodiscard]] base::Nanoseconds session_create_time() const noexcept override { return base::Nanoseconds(7000); }
  [[nodiscard]] int lanes() const noexcept override { return lanes_; }
  [[nodiscard]] double items_per_step() const noexcept override { return items; }
  [[nodiscard]] bool enter_thread(int lane) noexcept override { return !on_enter || on_enter(lane); }
  [[nodiscard]] bool step(int lane) noexcept override {
    const auto index = steps[static_cast<std::size_t>(lane)].fetch_add(1);
    if (on_step) on_step(lane, index);
    if (index == fail_at && lane == fail_lane) return false;
    const base::Nanoseconds duration(static_cast<std::int64_t>(latency_(lane, index)));
    if (real_time)
      base::system_clock().sleep_for(duration);
    else
      clock_.advance(duration);
    return true;
  }
  [[nodiscard]] base::Error last_error(int lane) const override {
    return {base::ErrorCode::out_of_memory, fmt::format("lane {} ran out of memory", lane)};
  }
  [[nodiscard]] const base::Clock& clock() const noexcept override {
    if (real_time) return base::system_clock();
    return clock_;
  }
  [[nodiscard]] base::Result<workload::OutputSet> outputs() override { return workload::OutputSet{}; }
  [[nodiscard]] std::map<std::string, std::string> effective_settings() const override { return {{"threads", "4"}}; }
  [[nodiscard]] std::vector<schema::QualityFlag> flags() const override { return own_flags; }

  [[nodiscard]] const FakeClock& fake_clock() const noexcept { return clock_; }

  bool real_time = false;
  double items = 1;
  int fail_lane = 0;
  std::int64_t fail_at = -1;
  std::function<void(int lane, std::int64_t index)> on_step;  ///< before the inference
  std::function<bool(int lane)> on_enter;
  std::vector<schema::QualityFlag> own_flags;
  std::array<std::atomic<std::int64_t>, kMaxLanes> steps{};

 private:
  Latency latency_;
  int lanes_;
  FakeClock clock_;
};

}  // namespace ridgeline::fakes
