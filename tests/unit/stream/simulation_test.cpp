// SPDX-License-Identifier: Apache-2.0
#include "stream/simulation.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stream/words.hpp"
#include "unit/stream/simulated_loads.hpp"

namespace ridgeline::stream {
namespace {

TEST(Simulation, waits_as_long_as_theory_says) {
  // M/D/1: the mean wait is rho * T / (2 * (1 - rho)).
  // The mean over all runs scatters by about 0.3 %.
  SimulationOptions options;
  options.dispatcher.capacity = 1 << 20;
  options.device = {0, 1e6};
  for (const auto& [rho, frames] : {std::pair{0.5, 250'000}, std::pair{0.8, 700'000}}) {
    constexpr int kRuns = 4;
    double wait_ns = 0;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
      const auto arrivals = poisson_arrivals(rho * 1000, static_cast<std::size_t>(frames), seed);
      const auto meter = simulate(options, arrivals).value();
      wait_ns += meter.stages().queue.mean() / kRuns;
      EXPECT_NEAR(meter.busy_ratio(), rho, 0.005);
      EXPECT_TRUE(meter.littles_law().passed) << words_of(meter.littles_law().message);
      EXPECT_TRUE(meter.stage_sum().passed) << words_of(meter.stage_sum().message);
    }
    const double ratio = wait_ns / (rho * 1e6 / (2 * (1 - rho)));
    EXPECT_NEAR(ratio, 1, 0.01) << rho;
  }
}

TEST(Simulation, a_seed_gives_the_same_decisions_byte_for_byte) {
  const auto log_of = [](std::uint64_t seed) {
    std::string log;
    auto options = options_of(kSimulatedCases.front());
    options.dispatcher.workers = 2;
    options.dispatcher.capacity = 40;
    options.failures = 0.05;
    options.seed = seed;
    options.log = &log;
    EXPECT_TRUE(simulate(options, poisson_arrivals(2500, 3000)));
    return log;
  };
  const auto first = log_of(1);
  EXPECT_EQ(first, log_of(1));
  EXPECT_NE(first, log_of(2));
  for (const char* event : {" offer 0:0 accepted\n", " launch 0 1 0:0\n", " complete 0 ok\n", " leave 0:0 ok\n",
                            " queue_full\n", " failed\n"})
    EXPECT_NE(first.find(event), std::string::npos) << event;
}

TEST(Simulation, a_million_frames_leave_once_and_in_order) {
  // Four workers whose times scatter threefold and whose batches fail, and a queue that overflows.
  SimulationOptions options;
  options.dispatcher.workers = 4;
  options.dispatcher.max_batch = 8;
  options.dispatcher.capacity = 32;
  options.dispatcher.give_up_after_ns = 30 * kMillisecond;
  options.device = {1e6, 1e6, 1.0};
  options.slo_ns = 40 * kMillisecond;
  options.failures = 0.02;
  const auto arrivals = make_schedule({{.process = ArrivalProcess::poisson, .rate_per_s = 1000},
                                       {.rate_per_s = 400, .jitter = 1},
                                       {.process = ArrivalProcess::burst, .rate_per_s = 1100}},
                                      400 * kSecond, 9)
                            .value();
  ASSERT_GE(arrivals.size(), 990'000U);
  std::vector<std::uint64_t> next(3, 0);
  std::uint64_t out_of_order = 0;
  options.on_result = [&](const FrameResult& result) {
    out_of_order += result.frame.sequence == next[result.frame.source] ? 0 : 1;
    ++next[result.frame.source];
  };
  const auto meter = simulate(options, arrivals).value();
  EXPECT_EQ(out_of_order, 0U);
  EXPECT_EQ(next[0] + next[1] + next[2], arrivals.size());
  EXPECT_EQ(meter.counters().offered, arrivals.size());
  EXPECT_TRUE(meter.counts(0).passed) << words_of(meter.counts(0).message);
  EXPECT_TRUE(meter.littles_law().passed) << words_of(meter.littles_law().message);
  EXPECT_TRUE(meter.stage_sum().passed) << words_of(meter.stage_sum().message);
  for (const auto reason : {DropReason::deadline, DropReason::queue_full, DropReason::timeout, DropReason::failed})
    EXPECT_GT(meter.counters().dropped_for(reason), 100U) << to_string(reason);
  EXPECT_GT(meter.stages().order.max(), 0);
}

TEST(Simulation, an_inference_a_little_longer_than_the_gap_between_frames_keeps_its_worker_busy) {
  // 36 ms at 30 frames/s: a limiter that waits for the next frame gives 15 frames/s (mediapipe issue 4384).
  const auto arrivals = make_schedule({{.rate_per_s = 30}}, 60 * kSecond, 1).value();
  for (const std::size_t capacity : {1U, 2U, 8U})
    for (const std::int64_t slo_ns : {std::int64_t{0}, 100 * kMillisecond}) {
      SimulationOptions options;
      options.dispatcher.capacity = capacity;
      options.device = {0, 36e6};
      options.slo_ns = slo_ns;
      const auto meter = simulate(options, arrivals).value();
      EXPECT_GE(meter.delivered_per_s(), 27) << capacity;
      EXPECT_LE(meter.stages().latency.max(), (static_cast<std::int64_t>(capacity) * 36 + 36 + 36) * kMillisecond);
    }
}

TEST(Simulation, slack_gives_the_same_frames_with_less_device_time) {
  auto options = options_of(kSimulatedCases.front());
  const auto arrivals = poisson_arrivals(0.6 * kSimulatedCases.front().full_rate(), 20000);
  const auto zero_wait = simulate(options, arrivals).value();
  options.dispatcher.use_slack = true;
  options.dispatcher.guard_ns = kMillisecond;
  const auto slack = simulate(options, arrivals).value();
  EXPECT_EQ(zero_wait.counters().in_time, arrivals.size());
  EXPECT_GE(slack.counters().in_time, arrivals.size() * 999 / 1000);
  EXPECT_GT(zero_wait.busy_ratio(), 0.95);
  EXPECT_LT(slack.busy_ratio(), 0.7);
  EXPECT_GT(slack.mean_batch(), 3 * zero_wait.mean_batch());
}

TEST(Simulation, a_model_that_slows_down_for_good_keeps_its_slo) {
  // The warm-up says 4 ms a batch of one; what runs later takes twice as long (the freeze stands for a stall between).
  SimulationOptions options;
  options.dispatcher.workers = 2;
  options.dispatcher.max_batch = 4;
  options.dispatcher.capacity = 256;
  options.device = {3e6, 1e6, 0.02, true};  // two at once: each takes twice what the warm-up measured
  options.slo_ns = 40 * kMillisecond;
  options.freezes = {{0, kSecond, kSecond / 2}, {1, kSecond, kSecond / 2}};
  const auto meter = simulate(options, poisson_arrivals(1200, 20000)).value();
  EXPECT_LE(meter.stages().latency.quantile(0.99), options.slo_ns);
  EXPECT_GE(meter.goodput_per_s(), 0.9 * 4e9 / 7e6);
}

/// A ResNet-50 on a GPU that two sessions share, as one was measured: 5712 frames/s in batches of 16, 6396 in batches
/// of 32, uploads of 17254 frames/s; eight sources of a fixed rate.
class SharedDevice : public ::testing::Test {
 protected:
  FlowMeter run(double rate_per_s, std::int64_t slo_ns, double jitter = 0.01) {
    SimulationOptions options;
    options.dispatcher.workers = 6;
    options.dispatcher.sessions = 2;
    options.dispatcher.session_batches = 2;
    options.dispatcher.most_batches = 3;
    options.dispatcher.max_batch = 32;
    options.dispatcher.capacity_slo_ns = slo_ns;
    options.shape = BatchShape::padded;
    options.slo_ns = slo_ns;
    options.device = {.alpha_ns = 0.6e6,
                      .beta_ns = 0.1376e6,
                      .jitter = jitter,
                      .shared = true,
                      .copy_ns = 58e3,
                      .decode_ns = 10e3,
                      .concurrency = {1, 1.02}};
    const std::vector<SourceLoad> sources(8, {.rate_per_s = rate_per_s / 8});
    return simulate(options, make_schedule(sources, 4 * kSecond, 1).value()).value();
  }
  static constexpr double kPeak = 6500;
};

TEST_F(SharedDevice, holds_nearly_its_peak_within_a_tight_limit) {
  for (const auto slo_ns : {30 * kMillisecond, 60 * kMillisecond})
    for (const double jitter : {0.01, 0.05})
      for (const double share : {0.9, 0.95}) {
        const auto meter = run(share * kPeak, slo_ns, jitter);
        EXPECT_LE(static_cast<double>(meter.counters().all_dropped()), 0.001 * share * kPeak * 4)
            << share << " of the peak within " << slo_ns / kMillisecond << " ms, jitter " << jitter;
        EXPECT_LE(meter.stages().latency.quantile(0.99), slo_ns);
      }
}

TEST_F(SharedDevice, keeps_its_peak_and_its_limit_when_more_comes) {
  for (const auto slo_ns : {30 * kMillisecond, 60 * kMillisecond})
    for (const double share : {1.25, 3.0}) {
      const auto meter = run(share * kPeak, slo_ns);
      EXPECT_GE(meter.delivered_per_s(), 0.97 * kPeak) << share;
      EXPECT_LE(meter.stages().latency.quantile(0.99), slo_ns) << share;
    }
}

TEST(SimulatedDevice, copies_one_after_another_and_computes_a_sessions_batches_in_order) {
  SimulatedDevice device({.alpha_ns = 0, .beta_ns = 100, .shared = true, .copy_ns = 10, .decode_ns = 1},
                         {.workers = 4, .sessions = 2, .session_batches = 2}, {}, 1);
  for (std::uint32_t worker = 0; worker < 4; ++worker) device.start(worker, 1);
  std::vector<std::pair<std::int64_t, std::uint32_t>> left;
  std::vector<std::uint32_t> done;
  while (const auto next = device.next_event()) {
    std::vector<std::uint32_t> now;
    device.advance(*next, done, now);
    for (const auto worker : now) left.emplace_back(*next, worker);
  }
  // Copied at 10, 20, 30, 40. Worker 0 is alone until 20, then both sessions take twice as long.
  EXPECT_EQ(left, (std::vector<std::pair<std::int64_t, std::uint32_t>>{{200, 0}, {220, 1}, {400, 2}, {410, 3}}));
  EXPECT_EQ(done, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(SimulatedDevice, batches_at_once_may_get_more_done) {
  SimulatedDevice device({.alpha_ns = 100, .shared = true, .concurrency = {1, 1.6}}, {.workers = 2, .sessions = 2}, {},
                         1);
  device.start(0, 1);
  device.start(1, 1);
  EXPECT_EQ(device.next_event(), 125) << "both at 0.8 of the rate";
}

TEST(Simulation, of_nothing_is_nothing) {
  const auto meter = simulate({}, {});
  ASSERT_TRUE(meter);
  EXPECT_EQ(meter->counters().offered, 0U);
  EXPECT_TRUE(meter->counts(0).passed);
  EXPECT_TRUE(meter->littles_law().passed);
}

}  // namespace
}  // namespace ridgeline::stream
