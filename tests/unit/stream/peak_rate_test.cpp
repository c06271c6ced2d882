// SPDX-License-Identifier: Apache-2.0
#include "stream/peak_rate.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "unit/stream/simulated_loads.hpp"

namespace ridgeline::stream {
namespace {

constexpr std::size_t kPeakFrames = 20000;

/// Those that wait for a fuller batch: 10 % and 50 % of the SLO, and as long as deadlines allow.
std::vector<SimulationOptions> waiting_policies(const SimulationOptions& options) {
  std::vector<SimulationOptions> policies(3, options);
  policies[0].dispatcher.frame_timeout_ns = options.slo_ns / 10;
  policies[1].dispatcher.frame_timeout_ns = options.slo_ns / 2;
  policies[2].dispatcher.use_slack = true;
  policies[2].dispatcher.guard_ns = options.slo_ns / 50;
  return policies;
}

SimulationOptions zero_wait(SimulationOptions options) {
  options.dispatcher.frame_timeout_ns = 0;
  options.dispatcher.use_slack = false;
  return options;
}

class PeakRate : public ::testing::TestWithParam<SimulatedCase> {};

TEST_P(PeakRate, of_the_default_is_that_of_the_best_policy) {
  const auto options = options_of(GetParam());
  const double highest = 1.1 * GetParam().full_rate();
  const double by_default = find_peak_rate(options, highest, kPeakFrames).value();
  double best = find_peak_rate(zero_wait(options), highest, kPeakFrames).value();
  for (const auto& policy : waiting_policies(options))
    best = std::max(best, find_peak_rate(policy, highest, kPeakFrames).value());
  EXPECT_GE(by_default, 0.99 * best);
}

TEST_P(PeakRate, at_a_tenth_of_the_load_the_default_is_as_quick_as_zero_wait) {
  const auto options = options_of(GetParam());
  const auto arrivals = poisson_arrivals(0.1 * GetParam().full_rate(), kPeakFrames);
  const auto p99 = [&](const SimulationOptions& of) {
    return static_cast<double>(simulate(of, arrivals).value().stages().latency.quantile(0.99));
  };
  const double least = p99(zero_wait(options));
  EXPECT_LE(p99(options), 1.1 * least);
  if (GetParam().max_batch == 1) return;
  for (const auto& policy : waiting_policies(options)) EXPECT_GT(p99(policy), 1.1 * least);
}

INSTANTIATE_TEST_SUITE_P(Models, PeakRate, ::testing::ValuesIn(kSimulatedCases),
                         [](const auto& tested) { return test_name(tested.param); });

TEST(PeakRateOfOneWorker, is_what_theory_says) {
  // M/D/1: a wait of t service times is exceeded with probability (1 - rho) / (rho * e^x - 1) * e^(-x * t), where
  // rho * (e^x - 1) = x. For rho = 0.8 x is 0.4309, and 1 % is exceeded by t = 10.35, which the service follows.
  SimulationOptions options;
  options.dispatcher.capacity = 1 << 20;
  options.device = {0, 1e6};
  options.dispatcher.drop_early = false;
  options.slo_ns = 11'350'000;
  EXPECT_NEAR(find_peak_rate(options, 1000, 100000, {.quantile = 0.99, .drops = 1}).value(), 800, 12);
  options.slo_ns = 500'000;
  EXPECT_EQ(find_peak_rate(options, 1000, 1000).value(), 0);
  options.slo_ns = 0;
  EXPECT_FALSE(find_peak_rate(options, 1000, 1000));
}

}  // namespace
}  // namespace ridgeline::stream
