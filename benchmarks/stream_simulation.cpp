// SPDX-License-Identifier: Apache-2.0
// What the pipeline of `stream` decides, and how fast, in virtual time: the real scheduler on simulated devices.
//   cmake --preset bench && cmake --build build/bench --target stream_simulation
//   build/bench/bin/stream_simulation
// Exit code 3 when a goal was missed.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "stream/peak_rate.hpp"
#include "stream/simulation.hpp"
#include "unit/stream/simulated_loads.hpp"

namespace {

using namespace ridgeline::stream;  // a program, not a library

constexpr int kGoalMissed = 3;
constexpr std::size_t kProbeFrames = 100'000;
constexpr std::size_t kMillion = 1'000'000;

class Goals {
 public:
  void check(bool met, std::string_view what) {
    fmt::print("  {:<6} {}\n", met ? "met" : "MISSED", what);
    all_met_ &= met;
  }
  [[nodiscard]] bool all_met() const noexcept { return all_met_; }

 private:
  bool all_met_ = true;
};

double p99_of(const FlowMeter& meter) { return static_cast<double>(meter.stages().latency.quantile(0.99)); }

void policies(const SimulatedCase& simulated, Goals& goals) {
  const auto zero_wait = options_of(simulated);
  std::vector<SimulationOptions> waiting(3, zero_wait);
  waiting[0].dispatcher.frame_timeout_ns = simulated.slo_ns / 10;
  waiting[1].dispatcher.frame_timeout_ns = simulated.slo_ns / 2;
  waiting[2].dispatcher.use_slack = true;
  waiting[2].dispatcher.guard_ns = simulated.slo_ns / 50;
  const double highest = 1.1 * simulated.full_rate();
  const double peak = find_peak_rate(zero_wait, highest, kProbeFrames).value();
  fmt::print("{}, up to {:.0f} frames/s, SLO {} ms\n", simulated.name, simulated.full_rate(),
             simulated.slo_ns / kMillisecond);
  fmt::print("  peak rate at zero wait {:.1f}/s; timeout of 10 % of the SLO, of 50 %, slack:", peak);
  double best = peak;
  for (const auto& options : waiting) {
    const double rate = find_peak_rate(options, highest, kProbeFrames).value();
    best = std::max(best, rate);
    fmt::print(" {:.1f}", rate);
  }
  fmt::print("\n");
  goals.check(peak >= 0.99 * best, fmt::format("{:.4f} of the best policy's (0.99)", peak / best));

  auto by_slo = zero_wait;
  by_slo.dispatcher.capacity_slo_ns = simulated.slo_ns;
  for (const auto& options : {zero_wait, by_slo})
    for (const double overload : {1.5, 2.0}) {
      const auto meter = simulate(options, poisson_arrivals(overload * peak, kProbeFrames, 3)).value();
      const double goodput = meter.goodput_per_s() / peak;
      const double p99 = p99_of(meter) / static_cast<double>(simulated.slo_ns);
      goals.check(
          goodput >= 0.95 && p99 <= 1 && meter.counts(0).passed,
          fmt::format("{} overload, {}: goodput {:.3f} of the peak (0.95), p99 {:.3f} of the SLO (1), {}", overload,
                      options.dispatcher.capacity_slo_ns == 0 ? "a queue of 1024" : "a queue by the SLO", goodput, p99,
                      meter.counts(0).message));
    }
}

void theory(Goals& goals) {
  fmt::print("M/D/1: mean wait against rho T / (2 (1 - rho)), 10 runs of 10^6 frames\n");
  SimulationOptions options;
  options.dispatcher.capacity = 1 << 20;
  options.device = {0, 1e6};
  for (const double rho : {0.5, 0.8}) {
    constexpr int kRuns = 10;
    double wait_ns = 0;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed)
      wait_ns += simulate(options, poisson_arrivals(rho * 1000, kMillion, seed)).value().stages().queue.mean() / kRuns;
    const double ratio = wait_ns / (rho * 1e6 / (2 * (1 - rho)));
    goals.check(ratio > 0.99 && ratio < 1.01, fmt::format("rho {}: {:.4f} of theory (0.99 to 1.01)", rho, ratio));
  }
}

void speed(Goals& goals) {
  fmt::print("10^6 frames in virtual time, arrivals made beforehand\n");
  for (const auto& simulated : kSimulatedCases)
    for (const double load : {0.5, 0.95, 2.0}) {
      const auto options = options_of(simulated);
      const auto arrivals = poisson_arrivals(load * simulated.full_rate(), kMillion);
      const auto begin = std::chrono::steady_clock::now();
      const auto meter = simulate(options, arrivals).value();
      const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      goals.check(took < 2, fmt::format("{} at {} load, mean batch {:.1f}: {:.2f} s (2)", simulated.name, load,
                                        meter.mean_batch(), took));
    }
}

}  // namespace

int main() {
  Goals goals;
  for (const auto& simulated : kSimulatedCases) policies(simulated, goals);
  theory(goals);
  speed(goals);
  return goals.all_met() ? 0 : kGoalMissed;
}
