// SPDX-License-Identifier: Apache-2.0
// Trials that are too close to be told apart by one session each.
#include <algorithm>
#include <chrono>
#include <vector>

#include <gtest/gtest.h>

#include "campaign/tune/tune_campaign.hpp"
#include "fakes/fake_gpu_pool.hpp"
#include "fakes/gpu_pool_request.hpp"
#include "fakes/temporary_folder.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;

const Configuration kPlain{{"io_binding", "device"}};
const Configuration kChannelsLast{{"io_binding", "device"}, {"prefer_nhwc", true}};

/// Four configurations: the current one at 2 ms, prefer_nhwc alone at 3 ms, the two above as `plain` and
/// `channels_last` say in a trial each. Side by side the second is `ratio` times as fast as the first.
class HeadToHeadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    request_ = fakes::gpu_pool_request(folder_.path(), 1, {{"io_binding", {"device"}}, {"prefer_nhwc", {true}}});
  }

  TuneResult run(double plain_ms, double channels_last_ms, double ratio) {
    fakes::FakeGpuPool pool(clock_, 1);
    pool.simple.noise = noise_;
    pool.simple.cost_ns = [=](const Configuration& c) {
      if (c == kPlain) return plain_ms * 1e6;
      if (c == kChannelsLast) return channels_last_ms * 1e6;
      return c.empty() ? 2e6 : 3e6;
    };
    pool.simple.pair_ratio = [=](const Configuration& a, const Configuration& b) -> std::optional<double> {
      if (a == kPlain && b == kChannelsLast) return ratio;
      if (a == kChannelsLast && b == kPlain) return 1 / ratio;
      return std::nullopt;
    };
    auto result = fakes::tuned(pool, clock_, folder_ / fmt::format("{}.db", ++runs_), request_);
    pair_plans_ = pool.simple.pair_plans;
    return result;
  }

  static long count(const TuneResult& result, schema::PairPurpose purpose) {
    return std::count_if(result.run.pairs.begin(), result.run.pairs.end(),
                         [&](const auto& pair) { return pair.purpose == purpose; });
  }

  fakes::TemporaryFolder folder_;
  fakes::FakeClock clock_;
  TuneRequest request_;
  std::vector<schema::PairedPlan> pair_plans_;  // of the last run
  double noise_ = 0.01;
  int runs_ = 0;
};

TEST_F(HeadToHeadTest, what_was_nearly_as_fast_wins_where_it_is_faster_side_by_side) {
  const auto result = run(1.00, 1.03, 1.05);
  ASSERT_TRUE(result.run.verdict);
  EXPECT_EQ(result.run.verdict->configuration, kChannelsLast);
  ASSERT_TRUE(result.run.verdict->gain);
  EXPECT_NEAR(result.run.verdict->gain->ratio, 2 / 1.03, 0.02) << "of the comparison with the current configuration";
  EXPECT_EQ(count(result, schema::PairPurpose::head_to_head), 1);
  EXPECT_EQ(count(result, schema::PairPurpose::finalist), 1) << "the loser does not meet the current configuration";
}

TEST_F(HeadToHeadTest, the_fastest_stays_where_it_is_faster_side_by_side) {
  EXPECT_EQ(run(1.00, 1.03, 0.97).run.verdict->configuration, kPlain);
  EXPECT_EQ(run(1.03, 1.00, 1.05).run.verdict->configuration, kChannelsLast);
}

TEST_F(HeadToHeadTest, the_simpler_is_taken_where_it_is_shown_to_be_no_slower_than_counts) {
  EXPECT_EQ(run(1.03, 1.00, 1.0).run.verdict->configuration, kPlain);
  EXPECT_EQ(run(1.00, 1.03, 1.0).run.verdict->configuration, kPlain);
  EXPECT_EQ(run(1.03, 1.00, 1.01).run.verdict->configuration, kPlain) << "1 % behind, and 2 % count";
  EXPECT_EQ(run(1.03, 1.00, 1.03).run.verdict->configuration, kChannelsLast);
}

// On a noisy machine a second finalist replaced the fastest because its interval was too wide to tell the two apart.
TEST_F(HeadToHeadTest, the_faster_stays_where_the_machine_is_too_noisy_to_tell) {
  noise_ = 0.15;
  const auto result = run(1.01, 1.00, 1.01);
  ASSERT_EQ(count(result, schema::PairPurpose::head_to_head), 1);
  for (const auto& pair : result.run.pairs) {
    if (pair.purpose != schema::PairPurpose::head_to_head) continue;
    EXPECT_LT(pair.comparison->low, 1 / 1.02) << "else it is shown to be as good";
  }
  EXPECT_EQ(result.run.verdict->configuration, kChannelsLast);
}

TEST_F(HeadToHeadTest, what_sessions_cannot_explain_needs_no_duel) {
  const auto result = run(1.00, 1.10, 1.05);
  EXPECT_EQ(result.run.verdict->configuration, kPlain);
  EXPECT_EQ(count(result, schema::PairPurpose::head_to_head), 0);
}

TEST_F(HeadToHeadTest, the_time_is_for_the_comparison_with_the_current_configuration_first) {
  request_.max_time = std::chrono::seconds(10);  // of which four trials take four
  const auto result = run(1.00, 1.03, 1.05);
  EXPECT_EQ(count(result, schema::PairPurpose::head_to_head), 0);
  EXPECT_EQ(count(result, schema::PairPurpose::finalist), 1);
  request_.max_time = std::chrono::seconds(30);
  EXPECT_EQ(count(run(1.00, 1.03, 1.05), schema::PairPurpose::head_to_head), 1);
}

// Of thirty seconds, which are for several comparisons, one gets three.
TEST_F(HeadToHeadTest, a_comparison_takes_eight_seconds_at_most_or_a_tenth_of_the_time) {
  run(1.00, 1.03, 1.05);
  ASSERT_EQ(pair_plans_.size(), 2U);
  for (const auto& plan : pair_plans_) EXPECT_EQ(plan.max_time_s, 8);
  request_.max_time = std::chrono::seconds(30);
  run(1.00, 1.03, 1.05);
  ASSERT_EQ(pair_plans_.size(), 2U);
  for (const auto& plan : pair_plans_) EXPECT_DOUBLE_EQ(plan.max_time_s, 3);
  request_.search = "quick";
  run(1.00, 1.03, 1.05);
  ASSERT_FALSE(pair_plans_.empty());
  for (const auto& plan : pair_plans_) EXPECT_DOUBLE_EQ(plan.max_time_s, 1.5);
}

TEST_F(HeadToHeadTest, a_quick_search_has_no_time_for_it) {
  request_.search = "quick";
  EXPECT_EQ(count(run(1.00, 1.03, 1.05), schema::PairPurpose::head_to_head), 0);
}

}  // namespace
}  // namespace ridgeline::campaign
