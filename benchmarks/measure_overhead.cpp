// SPDX-License-Identifier: Apache-2.0
// What a measurement adds to an inference: measure() against a bare loop around the same work, interleaved.
//   cmake --preset bench && cmake --build build/bench --target measure_overhead && build/bench/bin/measure_overhead
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include <fmt/core.h>

#include "measure/measurement_session.hpp"

namespace {

using namespace ridgeline;  // a program, not a library

constexpr double kGoalRatio = 0.01;
constexpr int kRepeats = 15;

/// A chain of multiplications: `rounds` of them take about a nanosecond each and cannot be shortened.
class ChainWorkload final : public workload::Workload {
 public:
  explicit ChainWorkload(std::int64_t rounds) : rounds_(rounds) {}
  base::Result<void> prepare() override { return {}; }
  schema::TrialPhase phase() const noexcept override { return schema::TrialPhase::create_session; }
  base::Nanoseconds session_create_time() const noexcept override { return {}; }
  int concurrency() const noexcept override { return 1; }
  double items_per_step() const noexcept override { return 1; }
  bool step(int) noexcept override {
    std::uint64_t state = state_;
    for (std::int64_t i = 0; i < rounds_; ++i) state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    state_ = state;
    return true;
  }
  base::Error last_error(int) const override { return {}; }
  base::Result<workload::OutputSet> outputs() override { return workload::OutputSet{}; }

 private:
  std::int64_t rounds_;
  volatile std::uint64_t state_ = 1;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double bare_median_ns(ChainWorkload& workload, int runs) {
  std::vector<double> times(static_cast<std::size_t>(runs));
  for (auto& time : times) {
    const auto start = std::chrono::steady_clock::now();
    static_cast<void>(workload.step(0));
    time = static_cast<double>((std::chrono::steady_clock::now() - start).count());
  }
  return median(std::move(times));
}

double measured_median_ns(ChainWorkload& workload, int runs) {
  schema::MeasurementPlan plan;
  plan.runs = runs;
  plan.warmup_runs = 10;
  plan.warmup_max_s = 0;
  measure::MeasureControl control;
  const auto result = measure::measure(workload, plan, control);
  return result ? median(result->latency_ns) : 0;
}

}  // namespace

int main() {
  bool good = true;
  fmt::print("{:>14} {:>14} {:>14} {:>10}\n", "work", "bare loop", "measure()", "ratio");
  for (const double target_ns : {1e3, 1e4, 1e5, 1e6}) {
    // Calibrated once; the figures themselves come from the clock.
    ChainWorkload probe(100000);
    const double ns_a_round = bare_median_ns(probe, 50) / 100000;
    ChainWorkload workload(static_cast<std::int64_t>(target_ns / ns_a_round));
    const int runs = static_cast<int>(std::clamp(5e7 / target_ns, 50.0, 20000.0));
    std::vector<double> bare;
    std::vector<double> measured;
    std::vector<double> ratios;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      bare.push_back(bare_median_ns(workload, runs));
      measured.push_back(measured_median_ns(workload, runs));
      ratios.push_back(measured.back() / bare.back());
    }
    const double ratio = median(ratios);
    fmt::print("{:>11.0f} ns {:>11.0f} ns {:>11.0f} ns {:>10.4f}", target_ns, median(bare), median(measured), ratio);
    if (target_ns >= 1e5) {
      const bool met = std::abs(ratio - 1) < kGoalRatio;
      fmt::print("   goal within 1 %: {}", met ? "met" : "MISSED");
      good = good && met;
    }
    fmt::print("\n");
  }
  return good ? 0 : 1;
}
