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
  static constexpr int kMaxConcurrency = 8;
  /// Nanoseconds of inference `index` (from 0) of `caller`.
  using Latency = std::function<double(int caller, std::int64_t index)>;

  explicit FakeWorkload(Latency latency, int concurrency = 1)
      : latency_(std::move(latency)), concurrency_(concurrency) {}

  [[nodiscard]] base::Result<void> prepare() override { return {}; }
  [[nodiscard]] schema::TrialPhase phase() const noexcept override { return schema::TrialPhase::create_session; }
  [[nodiscard]] base::Nanoseconds session_create_time() const noexcept override { return base::Nanoseconds(7000); }
  [[nodiscard]] int concurrency() const noexcept override { return concurrency_; }
  [[nodiscard]] double items_per_step() const noexcept override { return items; }
  [[nodiscard]] bool enter_thread(int caller) noexcept override { return !on_enter || on_enter(caller); }
  [[nodiscard]] bool step(int caller) noexcept override {
    const auto index = steps[static_cast<std::size_t>(caller)].fetch_add(1);
    if (on_step) on_step(caller, index);
    if (index == fail_at && caller == failing_caller) return false;
    const base::Nanoseconds duration(static_cast<std::int64_t>(latency_(caller, index)));
    if (real_time)
      base::system_clock().sleep_for(duration);
    else
      clock_.advance(duration);
    return true;
  }
  [[nodiscard]] base::Error last_error(int caller) const override {
    return {base::ErrorCode::out_of_memory, fmt::format("caller {} ran out of memory", caller)};
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
  int failing_caller = 0;
  std::int64_t fail_at = -1;
  std::function<void(int caller, std::int64_t index)> on_step;  ///< before the inference
  std::function<bool(int caller)> on_enter;
  std::vector<schema::QualityFlag> own_flags;
  std::array<std::atomic<std::int64_t>, kMaxConcurrency> steps{};

 private:
  Latency latency_;
  int concurrency_;
  FakeClock clock_;
};

}  // namespace ridgeline::fakes
