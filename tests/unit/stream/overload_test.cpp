// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

#include "stream/peak_rate.hpp"
#include "stream/slo_sizing.hpp"
#include "unit/stream/simulated_loads.hpp"

namespace ridgeline::stream {
namespace {

constexpr std::size_t kOverloadFrames = 30000;

class Overload : public ::testing::TestWithParam<SimulatedCase> {
 protected:
  /// Goodput, latency and counts at 1.5 and 2 times the peak rate, which `options` have as well.
  static void expect_to_hold(const SimulationOptions& options) {
    const double full = GetParam().full_rate();
    const double peak = find_peak_rate(options, 1.1 * full, kOverloadFrames).value();
    ASSERT_GT(peak, 0.5 * full);
    for (const double overload : {1.5, 2.0}) {
      const auto meter = simulate(options, poisson_arrivals(overload * peak, kOverloadFrames, 3)).value();
      const auto p99 = meter.stages().latency.quantile(0.99);
      EXPECT_GE(meter.goodput_per_s(), 0.95 * peak) << overload;
      EXPECT_GE(meter.goodput_per_s(), 0.93 * std::min(full, overload * peak)) << overload;
      EXPECT_LE(p99, options.slo_ns) << overload;
      const auto& counters = meter.counters();
      EXPECT_EQ(counters.offered, counters.delivered + counters.all_dropped()) << overload;
      EXPECT_GT(counters.all_dropped(), 0U) << overload;
    }
  }
};

TEST_P(Overload, early_drop_keeps_goodput_and_latency) { expect_to_hold(options_of(GetParam())); }

TEST_P(Overload, so_does_a_capacity_from_the_slo_alone) {
  auto options = options_of(GetParam());
  SimulatedDevice device(options.device, 1, {}, 1);
  const auto model = ServiceModel::make(device.warm_up(options.dispatcher.max_batch), options.shape).value();
  options.dispatcher.capacity = slo_capacity(model, options.dispatcher.max_batch, 1, options.slo_ns).value();
  options.dispatcher.drop_early = false;
  expect_to_hold(options);
}

TEST_P(Overload, without_either_there_is_next_to_no_goodput) {
  auto options = options_of(GetParam());
  options.dispatcher.drop_early = false;
  const double full = GetParam().full_rate();
  const auto meter = simulate(options, poisson_arrivals(1.5 * full, kOverloadFrames, 3)).value();
  EXPECT_LT(meter.goodput_per_s(), 0.1 * full);
}

INSTANTIATE_TEST_SUITE_P(Models, Overload, ::testing::ValuesIn(kSimulatedCases),
                         [](const auto& tested) { return test_name(tested.param); });

TEST(OverloadOfScatteringTimes, the_slo_holds_where_batches_take_a_third_more_or_less) {
  for (const auto& simulated : kSimulatedCases)
    for (const double overload : {1.5, 2.0, 4.0}) {
      auto options = options_of(simulated);
      options.device.jitter = 0.3;
      const auto meter = simulate(options, poisson_arrivals(overload * simulated.full_rate(), kOverloadFrames)).value();
      EXPECT_LE(meter.stages().latency.quantile(0.99), options.slo_ns) << simulated.name << ", " << overload;
      EXPECT_GE(meter.goodput_per_s(), 0.85 * simulated.full_rate()) << simulated.name << ", " << overload;
    }
}

TEST(OverloadOnSharedDevice, times_learnt_while_running_keep_the_slo) {
  SimulationOptions options;
  options.dispatcher.workers = 2;
  options.dispatcher.max_batch = 8;
  options.dispatcher.capacity = 1024;
  options.device = {3e6, 1e6, 0.03, true};
  options.slo_ns = 60 * kMillisecond;
  const auto meter = simulate(options, poisson_arrivals(1500, kOverloadFrames)).value();
  EXPECT_LE(meter.stages().latency.quantile(0.99), options.slo_ns);
  EXPECT_GE(meter.goodput_per_s(), 0.95 * 8e9 / 11e6);
}

}  // namespace
}  // namespace ridgeline::stream
