// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

#include "stream/dispatcher.hpp"
#include "stream/peak_rate.hpp"
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

TEST_P(Overload, so_it_does_with_a_queue_by_the_slo) {
  auto options = options_of(GetParam());
  options.dispatcher.capacity_slo_ns = options.slo_ns;
  expect_to_hold(options);
}

TEST_P(Overload, without_it_there_is_next_to_no_goodput) {
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

/// One frame at a time in about 20 ms, some in 33: what a detector on a busy CPU takes.
SimulationOptions scattering_detector() {
  SimulationOptions options;
  options.device = {0, 20e6, 0.2};
  options.slo_ns = 100 * kMillisecond;
  return options;
}

TEST(QueueByTheSlo, turns_away_no_frame_that_would_have_been_in_time) {
  for (const double rate : {30.0, 40.0, 60.0})
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto arrivals = poisson_arrivals(rate, 3000, seed);
      auto options = scattering_detector();
      options.seed = seed;
      std::uint64_t best = 0;
      for (const std::size_t capacity : {1, 2, 3, 4, 5, 6, 8, 12}) {
        options.dispatcher.capacity = capacity;
        best = std::max(best, simulate(options, arrivals).value().counters().in_time);
      }
      options.dispatcher.capacity_slo_ns = options.slo_ns;
      const auto meter = simulate(options, arrivals).value();
      EXPECT_GE(static_cast<double>(meter.counters().in_time), 0.99 * static_cast<double>(best))
          << rate << " a second, seed " << seed;
      EXPECT_LE(meter.stages().latency.quantile(0.99), options.slo_ns) << rate << " a second, seed " << seed;
    }
}

TEST(QueueByTheSlo, follows_what_batches_take) {
  DispatcherOptions options;
  options.capacity_slo_ns = 100 * kMillisecond;
  auto dispatcher =
      Dispatcher::make(options, ServiceModel::make({{1, std::vector<std::int64_t>(8, 50 * kMillisecond)}}, {}).value())
          .value();
  EXPECT_EQ(dispatcher.capacity(), 2U) << "a slow warm-up";
  Decisions decisions;
  std::int64_t now = 0;
  for (int frame = 0; frame < 200; ++frame) {
    EXPECT_EQ(dispatcher.offer({.sequence = static_cast<std::uint64_t>(frame)}, now).admission, Admission::accepted);
    dispatcher.poll(now, decisions);
    now += 10 * kMillisecond;
    ASSERT_TRUE(dispatcher.complete(0, now, true));
  }
  EXPECT_EQ(dispatcher.capacity(), 10U);
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
