// SPDX-License-Identifier: Apache-2.0
#include "measure/stopping_criterion.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ridgeline::measure {
namespace {

std::vector<double> normal_samples(std::size_t count, double mean, double stdev, std::uint64_t seed) {
  base::Random random(seed);
  std::vector<double> out(count);
  for (auto& value : out) value = mean + stdev * random.normal();
  return out;
}

StoppingCriterion::Options options_with(double target, std::int64_t min_runs = 10) {
  StoppingCriterion::Options options;
  options.plan.target_interval_ratio = target;
  options.plan.min_runs = min_runs;
  options.plan.min_time_s = 0;
  return options;
}

TEST(StoppingCriterion, stops_at_the_interval_and_not_before) {
  const auto samples = normal_samples(4000, 100, 5, 9);
  StoppingCriterion criterion(options_with(0.01));
  // Standard error of the median: 1.2533*5/sqrt(n), times 1.96 below 1 % of 100 from n = 150 on.
  EXPECT_FALSE(criterion.decide(std::span(samples).first(40), 40, 1));
  EXPECT_EQ(criterion.decide(samples, 4000, 1), schema::StopReason::interval_reached);
  ASSERT_TRUE(criterion.interval());
  EXPECT_NEAR(criterion.interval()->value, 100, 0.5);
}

TEST(StoppingCriterion, waits_for_the_least_runs_and_time) {
  const std::vector<double> constant(20, 5.0);
  auto options = options_with(0.01, 30);
  StoppingCriterion by_runs(options);
  EXPECT_FALSE(by_runs.decide(constant, 20, 1));
  options = options_with(0.01, 10);
  options.plan.min_time_s = 0.5;
  StoppingCriterion by_time(options);
  EXPECT_FALSE(by_time.decide(constant, 20, 0.4));
  EXPECT_EQ(by_time.decide(constant, 20, 0.5), schema::StopReason::interval_reached);
}

TEST(StoppingCriterion, stops_when_the_budget_or_the_buffer_is_spent) {
  const auto noisy = normal_samples(50, 100, 40, 4);
  auto options = options_with(0.001);
  options.plan.max_time_s = 2;
  options.plan.max_runs = 1000;
  StoppingCriterion criterion(options);
  EXPECT_FALSE(criterion.decide(noisy, 50, 1.9));
  EXPECT_EQ(criterion.decide(noisy, 50, 2.0), schema::StopReason::time_budget);
  EXPECT_EQ(criterion.decide(noisy, 1000, 1.0), schema::StopReason::run_limit);
  EXPECT_DOUBLE_EQ(*criterion.time_left_s(0.5), 1.5);
}

TEST(StoppingCriterion, gives_up_only_on_a_clear_loser) {
  auto options = options_with(0.0001);
  options.stop_above_ns = 90;
  StoppingCriterion criterion(options);
  EXPECT_EQ(criterion.decide(normal_samples(20, 100, 2, 5), 20, 0.1), schema::StopReason::stopped_early);
  EXPECT_FALSE(criterion.decide(normal_samples(20, 91, 4, 5), 20, 0.1));   // the interval still reaches below 90
  EXPECT_FALSE(criterion.decide(std::vector<double>(7, 1000.0), 7, 0.1));  // too few for an interval
}

TEST(StoppingCriterion, counts_the_cost_an_item_over_all_callers_for_throughput) {
  auto options = options_with(0.0001);
  options.throughput = true;
  options.concurrency = 2;
  options.items_per_inference = 4;
  options.stop_above_ns = 12;
  StoppingCriterion criterion(options);
  EXPECT_FALSE(criterion.decide(normal_samples(100, 90, 1, 6), 50, 0.1));  // 90 / 8 = 11.25 ns an item
  EXPECT_EQ(criterion.decide(normal_samples(100, 104, 1, 6), 50, 0.1), schema::StopReason::stopped_early);
}

TEST(StoppingCriterion, spaces_its_looks_geometrically) {
  auto options = options_with(0.01);
  options.plan.max_runs = 100000;
  StoppingCriterion criterion(options);
  std::int64_t done = 0;
  int looks = 0;
  while (done < 100000) {
    done += criterion.next_round(done);
    ++looks;
  }
  EXPECT_EQ(done, 100000);
  EXPECT_LT(looks, 50);
}

TEST(StoppingCriterion, takes_a_fixed_number_in_one_round) {
  auto options = options_with(0.01);
  options.plan.runs = 500;
  StoppingCriterion criterion(options);
  EXPECT_EQ(criterion.next_round(0), 500);
  EXPECT_EQ(criterion.next_round(200), 300);
  EXPECT_FALSE(criterion.time_left_s(1000));
  EXPECT_FALSE(criterion.decide(std::vector<double>(499, 1.0), 499, 1000));
  EXPECT_EQ(criterion.decide(std::vector<double>(500, 1.0), 500, 1000), schema::StopReason::fixed_runs);
}

TEST(StoppingCriterion, places_the_first_look_where_the_least_time_ends) {
  auto options = options_with(0.01);
  options.plan.min_time_s = 0.2;
  options.expected_latency_ns = 1e5;
  EXPECT_EQ(StoppingCriterion(options).next_round(0), 2000);
  options.stop_above_ns = 1.0;  // losers are looked for early
  EXPECT_EQ(StoppingCriterion(options).next_round(0), 8);
}

}  // namespace
}  // namespace ridgeline::measure
