// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "stream/slo_sizing.hpp"
#include "unit/stream/simulated_loads.hpp"

namespace ridgeline::stream {
namespace {

/// Of one source.
struct Share {
  int delivered = 0;
  int dropped = 0;
  std::int64_t latest_ns = 0;  ///< the largest latency
};

std::map<std::uint32_t, Share> shares_of(SimulationOptions options, const std::vector<Arrival>& arrivals) {
  std::map<std::uint32_t, Share> shares;
  options.on_result = [&](const FrameResult& result) {
    auto& share = shares[result.frame.source];
    ++(result.dropped ? share.dropped : share.delivered);
    share.latest_ns = std::max(share.latest_ns, result.left_ns - result.frame.intended_ns);
  };
  EXPECT_TRUE(simulate(options, arrivals));
  return shares;
}

TEST(Sources, a_flooding_one_takes_nothing_from_those_that_fit) {
  // 300 frames/s: an even share is 75. Three cameras want 60 each, the fourth source 2,000.
  const auto arrivals = make_schedule({{.rate_per_s = 60, .jitter = 0.2},
                                       {.rate_per_s = 60, .jitter = 0.2},
                                       {.rate_per_s = 60, .jitter = 0.2},
                                       {.process = ArrivalProcess::poisson, .rate_per_s = 2000}},
                                      20 * kSecond, 1)
                            .value();
  for (const auto policy : {DropPolicy::oldest, DropPolicy::newest})
    for (const bool by_slo : {true, false}) {
      SimulationOptions options;
      options.dispatcher.max_batch = 6;
      options.dispatcher.drop_policy = policy;
      options.dispatcher.capacity = 24;
      options.dispatcher.drop_early = by_slo;
      options.device = {2e6, 3e6};  // 6 frames in 20 ms
      options.slo_ns = by_slo ? 100 * kMillisecond : 0;
      const auto shares = shares_of(options, arrivals);
      for (const std::uint32_t camera : {0U, 1U, 2U}) {
        EXPECT_EQ(shares.at(camera).dropped, 0) << camera;
        EXPECT_NEAR(shares.at(camera).delivered, 1200, 1);
        EXPECT_LE(shares.at(camera).latest_ns, 60 * kMillisecond);
      }
      EXPECT_NEAR(shares.at(3).delivered, (300 - 180) * 20, 60);  // all that is left
      EXPECT_GT(shares.at(3).dropped, 30000);
    }
}

TEST(Sources, a_frozen_worker_delays_frames_of_others_by_less_than_the_slo) {
  const auto arrivals =
      make_schedule(std::vector<SourceLoad>(4, {.rate_per_s = 100, .jitter = 0.5}), 5 * kSecond, 3).value();
  for (const bool at_deadline : {true, false}) {
    SimulationOptions options;
    options.dispatcher.workers = 2;
    options.dispatcher.max_batch = 4;
    options.dispatcher.capacity = 64;
    options.device = {3e6, 1e6};
    options.slo_ns = 60 * kMillisecond;
    options.dispatcher.give_up_after_ns = at_deadline ? 0 : options.slo_ns;

    std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> undisturbed;
    options.on_result = [&](const FrameResult& result) {
      undisturbed[{result.frame.source, result.frame.sequence}] = result.left_ns;
    };
    ASSERT_TRUE(simulate(options, arrivals));

    // Worker 0 stands still for a second with what it has just been given.
    options.freezes = {{0, 2 * kSecond, kSecond}};
    std::map<std::uint32_t, std::int64_t> delays;  // the largest of a source
    std::map<std::uint32_t, int> given_up;
    options.on_result = [&](const FrameResult& result) {
      const auto& frame = result.frame;
      if (result.dropped == DropReason::timeout) ++given_up[frame.source];
      if (!result.dropped)
        delays[frame.source] =
            std::max(delays[frame.source], result.left_ns - undisturbed.at({frame.source, frame.sequence}));
    };
    const auto meter = simulate(options, arrivals);
    ASSERT_TRUE(meter);
    ASSERT_GE(given_up.size(), 1U);  // its batch, nothing else
    ASSERT_LT(given_up.size(), 4U);
    EXPECT_LE(meter->counters().all_dropped(), 4U);
    for (const auto& [source, delay] : delays) {
      const bool behind = given_up.count(source) != 0;
      EXPECT_LE(delay, behind && !at_deadline ? 2 * options.slo_ns : options.slo_ns);
      EXPECT_EQ(delay > 30 * kMillisecond, behind);
    }
  }
}

TEST(Sources, only_the_source_of_its_frame_waits_for_a_frozen_worker) {
  const auto arrivals = make_schedule(std::vector<SourceLoad>(4, {.rate_per_s = 30}), 5 * kSecond, 3).value();
  SimulationOptions options;
  options.dispatcher.workers = 2;
  options.device = {3e6, 1e6};
  options.slo_ns = 60 * kMillisecond;
  options.freezes = {{0, 2 * kSecond, kSecond}};  // and nothing is given up
  std::map<std::uint32_t, std::int64_t> longest;
  options.on_result = [&](const FrameResult& result) {
    auto& most = longest[result.frame.source];
    most = std::max(most, result.left_ns - result.frame.intended_ns);
  };
  ASSERT_TRUE(simulate(options, arrivals));
  int held_up = 0;
  for (const auto& [source, most] : longest) held_up += most > options.slo_ns ? 1 : 0;
  EXPECT_EQ(held_up, 1);
}

TEST(Sources, back_pressure_loses_nothing_and_lets_every_file_through) {
  // Four files as fast as they can, all frames there from the beginning.
  const SourceLoad file{.process = ArrivalProcess::trace, .times_ns = std::vector<std::int64_t>(500, 0)};
  const auto arrivals = make_schedule(std::vector<SourceLoad>(4, file), kSecond, 1).value();
  SimulationOptions options;
  options.dispatcher.max_batch = 8;
  options.dispatcher.capacity = 16;
  options.dispatcher.drop_policy = DropPolicy::none;
  options.device = {2e6, 1e6};
  std::map<std::uint32_t, int> in_first_half;
  options.on_result = [&](const FrameResult& result) {
    if (result.left_ns < 1250 * kMillisecond) ++in_first_half[result.frame.source];  // of 250 batches of 10 ms
  };
  const auto meter = simulate(options, arrivals);
  ASSERT_TRUE(meter);
  EXPECT_EQ(meter->counters().delivered, 2000U);
  EXPECT_GT(meter->mean_batch(), 7.9);
  for (std::uint32_t source = 0; source < 4; ++source) EXPECT_NEAR(in_first_half[source], 250, 10);
}

}  // namespace
}  // namespace ridgeline::stream
