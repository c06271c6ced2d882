// SPDX-License-Identifier: Apache-2.0
#include "measure/cost_estimate.hpp"
#include "fakes/words.hpp"

#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.hpp"

namespace ridgeline::measure {
namespace {

/// A trial of 50 inferences.
TrialCost trial(double duration_s, double latency_ms, double setup_s, double sessions = 1) {
  schema::TrialOutcome outcome;
  outcome.status = schema::TrialStatus::ok;
  outcome.duration_s = duration_s;
  auto& seen = outcome.measurement.emplace();
  seen.latency_ns.assign(50, latency_ms * 1e6);
  seen.session_create_ns = setup_s / 2 * 1e9;
  seen.first_run_ns = setup_s / 2 * 1e9;
  return trial_cost_with_median(outcome, sessions);
}

TrialCost untried(double sessions = 1) {
  TrialCost out;
  out.sessions = sessions;
  return out;
}

/// Of comparing the two in a process that is there.
double pair_s(const TrialCosts& made, const schema::PairedPlan& plan, const TrialCost& a, const TrialCost& b,
              bool on_gpu = true) {
  return expected_pair_s(plan, pair_cost(made, a, b, on_gpu, false));
}

TEST(CostEstimate, expects_nothing_before_the_first_trial) {
  EXPECT_EQ(expected_trial_s({}, 1), 0);
  EXPECT_EQ(expected_graph_s({}, 500'000'000), 0);
  EXPECT_EQ(longest_trial_s({}), 0);
}

TEST(CostEstimate, expects_a_trial_to_take_what_others_took_without_the_start_of_the_runtime) {
  TrialCosts made{trial(3.0, 1, 0.2)};
  EXPECT_DOUBLE_EQ(expected_trial_s(made, 1), 3.0);
  made.push_back(trial(0.4, 0.6, 0.2));
  made.push_back(trial(0.8, 0.5, 0.2));
  EXPECT_DOUBLE_EQ(expected_trial_s(made, 1), 0.6);
  EXPECT_DOUBLE_EQ(longest_trial_s(made), 0.8);
}

TEST(CostEstimate, a_failed_trial_took_its_time_for_its_sessions) {
  schema::TrialOutcome failed;
  failed.status = schema::TrialStatus::failed;
  failed.duration_s = 6;
  const auto cost = trial_cost(failed, 2);
  EXPECT_TRUE(cost.tried);
  EXPECT_FALSE(cost.timed);
  EXPECT_DOUBLE_EQ(expected_trial_s({cost}, 1), 3);
}

// MobileNetV3-L in batches of 64 on an H200: the trial of four sessions took 5.7 s, the last of two 3.0, and --max-time
// 30s became 38.8 s.
TEST(CostEstimate, expects_what_was_compiled_to_take_less_again) {
  schema::TrialOutcome outcome;
  auto& seen = outcome.measurement.emplace();
  seen.latency_ns.assign(50, 1e6);
  seen.session_create_ns = 45e9;
  seen.metrics["compile_s"] = 40;
  EXPECT_DOUBLE_EQ(trial_cost(outcome, 1).session_s, 45);
  seen.flags.push_back({schema::FlagLevel::info, std::string(schema::kColdCompile), fakes::legacy("")});
  EXPECT_DOUBLE_EQ(trial_cost(outcome, 1).session_s, 13);
  EXPECT_DOUBLE_EQ(trial_cost(outcome, 1).create_s, 13);
  // Trials after the first compile as long where their graphs are new; to plan with that again left an H200 no time to
  // compare two that were within 5 %.
  seen.flags.back().code = schema::kCompiledAnew;
  EXPECT_DOUBLE_EQ(trial_cost(outcome, 1).session_s, 13);
  seen.flags.back().code = "warm_compile";
  EXPECT_DOUBLE_EQ(trial_cost(outcome, 1).session_s, 45);
}

TEST(CostEstimate, expects_each_session_to_take_its_time) {
  const auto two = trial(2.9, 4, 0.6, 2);                              // 2.8 s for two
  const TrialCosts made{trial(2.6, 8, 2.0), trial(1.6, 4, 0.3), two};  // 1.4 s beside 50 inferences of 4 ms
  EXPECT_NEAR(expected_trial_s(made, 1), 0.15 + 1.4, 1e-9);
  EXPECT_NEAR(expected_trial_s(made, 4), 0.15 + 4 * 1.4, 1e-9);
  schema::PairedPlan plan;
  plan.rounds = plan.max_rounds = 2;
  plan.max_time_s = 3;
  const double measured = pair_s(made, plan, made.front(), two);
  EXPECT_NEAR(pair_s(made, plan, made.front(), untried(4)), measured + 2 * 2 * 1.4, 1e-9);
  EXPECT_LT(pair_s(made, plan, made.front(), untried()), measured);
}

TEST(CostEstimate, expects_a_graph_to_take_a_session_and_its_weights) {
  TrialCosts known{trial(3.0, 1, 2.0)};
  EXPECT_DOUBLE_EQ(expected_graph_s(known, 500'000'000), 1.0 + 0.5);
  known.push_back(trial(0.8, 0.5, 0.4));
  EXPECT_DOUBLE_EQ(expected_graph_s(known, 500'000'000), 0.2 + 0.5);
}

TEST(CostEstimate, expects_an_isolated_trial_to_start_its_process) {
  const TrialCosts made{trial(3.0, 1, 0.2), trial(1.0, 1, 0.2)};
  EXPECT_DOUBLE_EQ(expected_isolated_s(made, made.front()), 1.5 + 3.0);
  EXPECT_DOUBLE_EQ(expected_isolated_s(made, untried()), 1.5 + 1.0);
}

TEST(CostEstimate, expects_a_comparison_to_make_both_sessions_in_each_round) {
  const auto a = trial(0.55, 1, 0.5);
  const auto b = trial(2.03, 0.6, 2.0);
  const TrialCosts made{a, b};
  schema::PairedPlan plan;
  plan.rounds = plan.max_rounds = 1;
  plan.abba_rounds = 5;
  plan.max_abba_rounds = 10;
  plan.block_time_s = 0.04;
  plan.settle_s = 0.01;
  plan.max_time_s = 60;
  const double once = pair_s(made, plan, a, b);
  EXPECT_DOUBLE_EQ(once, 0.5 + 2.0 + 10 * 4 * (0.004 + 0.05))
      << "an uneven machine makes it go on to the last ABBA round";
  EXPECT_DOUBLE_EQ(expected_pair_s(plan, pair_cost(made, a, b, true, true)), once + 1.5);
  plan.rounds = plan.max_rounds = 2;
  EXPECT_DOUBLE_EQ(pair_s(made, plan, a, b), once + 2.5);
  plan.max_time_s = 1.5;
  EXPECT_DOUBLE_EQ(pair_s(made, plan, a, b), 5 + 1.5);
}

// BERT on an H200: sessions of 0.4 s, trials of 0.8 s, and a quick run of ten seconds took 10.7.
TEST(CostEstimate, counts_the_warm_up_but_not_the_start_of_the_runtime) {
  const auto first = trial(2.05, 1, 0.4);  // 2 s beside the 50 ms that were timed: 1.2 of them started CUDA
  const auto second = trial(0.85, 1, 0.4);
  schema::PairedPlan plan;
  plan.rounds = plan.max_rounds = 1;
  plan.max_time_s = 1.5;
  EXPECT_NEAR(pair_s({first, second, trial(0.9, 2, 0.3)}, plan, first, second), 0.8 + 0.8 + 1.5, 1e-9);
}

// MobileNetV3 in batches of 64 and four sessions on an H200: the first session's first run took 10 ms of the 4.6 s that
// the four needed until they could be timed, and a run of 30 s took 36.7.
TEST(CostEstimate, counts_every_session_that_runs_side_by_side) {
  const auto first = trial(0.55, 1, 0.5);
  const auto four = trial(5.0, 0.8, 0.2, 4);
  const TrialCosts made{first, trial(0.6, 1, 0.2), trial(0.6, 1, 0.2), four};
  schema::PairedPlan plan;
  plan.rounds = plan.max_rounds = 2;
  plan.max_time_s = 1;
  EXPECT_NEAR(pair_s(made, plan, first, four), 2 * (0.5 + 4.99) + 1, 1e-9);
}

TEST(CostEstimate, knows_that_slow_inferences_make_long_blocks) {
  const auto slow = trial(5.0, 100, 0);
  schema::PairedPlan plan;
  plan.abba_rounds = plan.max_abba_rounds = 4;
  plan.settle_s = 0;
  plan.min_block_runs = 3;
  EXPECT_NEAR(pair_s({slow}, plan, slow, slow, false), 4 * 4 * (0.1 + 0.3), 1e-9)
      << "the first run of each not counted";
}

TEST(CostEstimate, knows_how_long_the_samples_of_a_tail_take) {
  const auto slow = trial(5.0, 100, 0);
  schema::PairedPlan plan;
  plan.rounds = plan.max_rounds = 1;
  plan.abba_rounds = plan.max_abba_rounds = 4;
  plan.max_time_s = 3;
  plan.settle_s = 0;
  plan.discard_time_s = 0;
  plan.min_block_runs = 10;
  plan.min_samples = 100;
  const auto with = [&](double tail_s) {
    plan.min_samples_time_s = tail_s;
    return pair_s({slow}, plan, slow, slow, false);
  };
  EXPECT_NEAR(with(60), 2 * 10 * 1.1, 1e-9) << "ten blocks a side, a run of each not counted";
  EXPECT_NEAR(with(18), 18, 1e-9);
  EXPECT_NEAR(with(7), 4 * 4 * 11 * 0.1, 1e-9) << "four ABBA rounds come what may";
}

TEST(CostEstimate, counts_the_sessions_of_as_many_rounds_as_an_uneven_machine_needs) {
  const auto one = trial(1.2, 1, 0.3);
  schema::PairedPlan plan;
  plan.abba_rounds = plan.rounds = 4;
  plan.max_rounds = 60;
  plan.min_time_s = 4;
  plan.max_time_s = 30;
  const double setup_s = 2 * (1.2 - 0.05);
  EXPECT_NEAR(pair_s({one}, plan, one, one, false), setup_s + 29 * 0.6 + 30, 0.1) << "rounds of a second";
  plan.max_rounds = 10;
  EXPECT_NEAR(pair_s({one}, plan, one, one, false), setup_s + 9 * 0.6 + 30, 0.1);
  plan.max_rounds = 60;
  plan.min_time_s = 0.4;
  EXPECT_NEAR(pair_s({one}, plan, one, one, false), setup_s + 49 * 0.6 + 30, 0.1)
      << "a round lasts as long as making its sessions";
}

class FittedPlan : public testing::Test {
 protected:
  FittedPlan() {
    plan_.rounds = 2;
    plan_.max_rounds = 8;
    plan_.max_time_s = 4;
    plan_.min_time_s = 0;
  }

  schema::PairedPlan fitted(double left_s) const { return fitted_plan(plan_, cost_, left_s); }
  double needs_s(const schema::PairedPlan& plan) const { return expected_pair_s(plan, cost_); }

  const TrialCosts made_{trial(1.05, 1, 1.0), trial(3.05, 1, 3.0)};
  PairCost cost_ = pair_cost(made_, made_[0], made_[1], true, false);
  schema::PairedPlan plan_;
};

TEST_F(FittedPlan, is_the_plan_where_there_is_time_for_it) {
  ASSERT_DOUBLE_EQ(needs_s(plan_), 2 * (1 + 3) + 4);
  EXPECT_EQ(base::Json(fitted(12)), base::Json(plan_));
  EXPECT_EQ(base::Json(fitted(std::numeric_limits<double>::infinity())), base::Json(plan_));
}

TEST_F(FittedPlan, has_shorter_blocks_first_then_one_pair_of_sessions) {
  for (double left_s = 11.5; left_s >= 10; left_s -= 0.5) {
    const auto plan = fitted(left_s);
    EXPECT_EQ(plan.rounds, 2) << left_s;
    EXPECT_DOUBLE_EQ(needs_s(plan), left_s) << "no more is cut than has to be";
  }
  const auto once = fitted(9.5);
  EXPECT_EQ(once.rounds, 1);
  EXPECT_EQ(once.max_rounds, 1);
  EXPECT_DOUBLE_EQ(once.max_time_s, 4) << "which leaves time for all blocks again";
  EXPECT_DOUBLE_EQ(fitted(7).max_time_s, 3);
  EXPECT_DOUBLE_EQ(fitted(0).max_time_s, 2) << "without half of the blocks there is no answer";
}

// Where sessions are made at once, twelve pairs of them take long, two do not.
TEST_F(FittedPlan, has_two_pairs_of_sessions_before_it_has_one) {
  cost_.a = cost_.b = {0.2, 0.2, 0.001};
  plan_.max_rounds = 12;
  plan_.discard_runs = 0;
  plan_.discard_time_s = 0;
  std::vector<std::pair<int, int>> seen;
  for (double left_s = needs_s(plan_); left_s > 0; left_s -= 0.02) {
    const auto plan = fitted(left_s);
    if (seen.empty() || seen.back() != std::pair(plan.rounds, plan.max_rounds))
      seen.emplace_back(plan.rounds, plan.max_rounds);
  }
  EXPECT_EQ(seen, (std::vector<std::pair<int, int>>{{2, 12}, {2, 2}, {1, 1}}));
}

TEST_F(FittedPlan, cuts_blocks_that_would_not_take_all_of_their_time) {
  plan_.rounds = plan_.max_rounds = 1;
  plan_.max_abba_rounds = plan_.abba_rounds;
  plan_.settle_s = 0;
  plan_.discard_runs = 0;
  plan_.discard_time_s = 0;
  const double blocks_s = 4 * plan_.abba_rounds * plan_.block_time_s;
  plan_.max_time_s = 2 * blocks_s;
  ASSERT_NEAR(needs_s(plan_), 4 + blocks_s, 1e-9);
  EXPECT_NEAR(needs_s(fitted(4 + 0.8 * blocks_s)), 4 + 0.8 * blocks_s, 1e-9);
  EXPECT_NEAR(needs_s(fitted(0)), 4 + blocks_s / 2, 1e-9);
}

TEST_F(FittedPlan, keeps_what_a_percentile_and_an_uneven_machine_need) {
  plan_.min_samples = 500;
  EXPECT_DOUBLE_EQ(fitted(0).max_time_s, 4);
  plan_.min_samples = 0;
  plan_.rounds = 6;
  EXPECT_EQ(fitted(0).rounds, 6);
  EXPECT_EQ(fitted(0).max_rounds, 8);
}

TEST_F(FittedPlan, what_was_not_measured_may_take_as_long_as_the_slowest) {
  EXPECT_DOUBLE_EQ(pair_s(made_, plan_, made_[0], untried()), needs_s(plan_));
}

}  // namespace
}  // namespace ridgeline::measure
