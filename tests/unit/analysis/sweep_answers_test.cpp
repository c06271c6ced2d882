// SPDX-License-Identifier: Apache-2.0
#include "analysis/sweep_answers.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "fakes/words.hpp"

namespace ridgeline::analysis {
namespace {

/// A run over one parameter whose trials are added one by one.
class SweepBuilder {
 public:
  explicit SweepBuilder(std::vector<std::string> values) {
    run_.request.job.parameters = {{"n", std::move(values)}};
    run_.space_size = static_cast<double>(run_.request.job.parameters.front().values.size());
  }
  SweepBuilder& maximize(const std::string& metric) {
    run_.request.objective = {metric, true};
    return *this;
  }
  SweepBuilder& add(const std::string& value, int round, double number) {
    auto trial = next(value, round);
    trial.outcome.metrics[run_.request.objective.metric] = number;
    run_.trials.push_back(trial);
    return *this;
  }
  SweepBuilder& fail(const std::string& value, int round) {
    auto trial = next(value, round);
    trial.outcome.status = schema::TrialStatus::failed;
    run_.trials.push_back(trial);
    return *this;
  }
  schema::SweepRun& run() { return run_; }
  [[nodiscard]] std::vector<schema::SweepSummary> points() const { return summarize_sweep(run_); }
  [[nodiscard]] std::optional<schema::SweepAnswers> answers() const { return answer_sweep(run_, points()); }

 private:
  schema::SweepTrial next(const std::string& value, int round) const {
    schema::SweepTrial trial;
    trial.id = static_cast<int>(run_.trials.size()) + 1;
    trial.point = {{"n", value}};
    trial.repeat = round;
    return trial;
  }
  schema::SweepRun run_;
};

TEST(SweepAnswers, the_best_is_the_least_time_or_the_highest_rate) {
  SweepBuilder times({"a", "b"});
  times.add("a", 0, 2).add("b", 0, 1);
  EXPECT_EQ(times.answers()->best.at("n"), "b");
  SweepBuilder rates({"a", "b"});
  rates.maximize("rate").add("a", 0, 2).add("b", 0, 1);
  EXPECT_EQ(rates.answers()->best.at("n"), "a");
}

TEST(SweepAnswers, single_measurements_prove_nothing_and_say_so) {
  SweepBuilder runs({"a", "b"});
  runs.add("a", 0, 1.01).add("b", 0, 1.0);
  const auto answers = runs.answers();
  ASSERT_TRUE(answers);
  EXPECT_FALSE(answers->proven);
  EXPECT_EQ(answers->recommended.at("n"), "b");
  EXPECT_NE(fakes::text_of(answers->reason).find("--repeat"), std::string::npos);
  EXPECT_FALSE(runs.points()[1].tie);
}

TEST(SweepAnswers, a_tie_goes_to_the_value_that_stands_first) {
  SweepBuilder runs({"a", "b", "c"});
  const double noise[] = {0.995, 1.004, 1.001};
  for (int round = 0; round < 3; ++round)
    runs.add("a", round, 1.005 * noise[round]).add("b", round, 1.0 / noise[round]).add("c", round, 1.5 * noise[round]);
  const auto answers = runs.answers();
  ASSERT_TRUE(answers);
  EXPECT_EQ(answers->recommended.at("n"), "a");
  EXPECT_EQ(answers->best.at("n"), "b");
  const auto points = runs.points();
  EXPECT_TRUE(points[0].tie);
  EXPECT_TRUE(points[1].tie);
  EXPECT_FALSE(points[2].tie);
  EXPECT_NEAR(points[2].behind->value, 1.5, 0.02);
  EXPECT_GT(points[2].behind->low, 1.3);
}

TEST(SweepAnswers, a_slow_round_is_no_slow_combination) {
  // Each round is 30 % slower than the one before; within a round b is 5 % better than a.
  SweepBuilder runs({"a", "b"});
  double pace = 1;
  for (int round = 0; round < 4; ++round, pace *= 1.3)
    runs.add("a", round, pace * (1.05 + 0.001 * round)).add("b", round, pace);
  const auto points = runs.points();
  EXPECT_EQ(points[0].point.at("n"), "b");
  EXPECT_FALSE(points[1].tie);
  EXPECT_NEAR(points[1].behind->value, 1.0515, 0.001);
}

TEST(SweepAnswers, small_significant_differences_are_ties) {
  SweepBuilder runs({"a", "b"});
  for (int round = 0; round < 5; ++round) runs.add("a", round, 1.01 + 1e-5 * round).add("b", round, 1.0);
  EXPECT_EQ(runs.answers()->recommended.at("n"), "a");
  EXPECT_TRUE(runs.points()[1].tie);
}

TEST(SweepAnswers, failures_rank_last_and_are_never_recommended) {
  SweepBuilder runs({"a", "b", "c"});
  runs.add("a", 0, 2).add("b", 0, 1).fail("c", 0).add("a", 1, 2).fail("b", 1);
  const auto answers = runs.answers();
  ASSERT_TRUE(answers);
  EXPECT_EQ(answers->best.at("n"), "a");
  const auto points = runs.points();
  EXPECT_EQ(points[1].point.at("n"), "b");
  EXPECT_EQ(points[1].failed, 1);
  EXPECT_EQ(points[2].point.at("n"), "c");
  SweepBuilder hopeless({"a"});
  hopeless.fail("a", 0);
  EXPECT_FALSE(hopeless.answers());
}

TEST(SweepAnswers, costs_are_in_the_objectives_order_also_at_zero_and_below) {
  const auto cost = [](double number, bool maximize) {
    schema::SweepOutcome one;
    one.metrics["m"] = number;
    return *sweep_cost(one, {"m", maximize});
  };
  for (const bool maximize : {false, true}) {
    const std::vector<double> numbers{-1e6, -2, -1, 0, 1e-9, 1, 2, 1e6};
    for (std::size_t i = 1; i < numbers.size(); ++i) {
      EXPECT_GT(cost(numbers[i], maximize), 0);
      EXPECT_EQ(cost(numbers[i - 1], maximize) < cost(numbers[i], maximize), !maximize) << numbers[i];
    }
  }
}

TEST(SweepAnswers, objectives_of_zero_and_below_are_compared_by_differences) {
  // Each round is 0.5 higher; within a round a has 0.3 more than b, and c hardly less.
  SweepBuilder rewards({"b", "c", "a"});
  rewards.maximize("reward");
  for (int round = 0; round < 4; ++round) {
    const double pace = -1 + 0.5 * round;
    rewards.add("b", round, pace).add("c", round, pace + 0.299 + 0.0001 * round).add("a", round, pace + 0.3);
  }
  ASSERT_TRUE(compares_differences(rewards.run()));
  const auto points = rewards.points();
  EXPECT_EQ(points[0].point.at("n"), "a");
  EXPECT_EQ(points[0].behind->value, 0);
  EXPECT_TRUE(points[1].tie);
  EXPECT_FALSE(points[2].tie);
  EXPECT_NEAR(points[2].behind->value, 0.3, 1e-9);
  const auto answers = rewards.answers();
  ASSERT_TRUE(answers && answers->gain);
  EXPECT_EQ(answers->best.at("n"), "a");
  EXPECT_EQ(answers->recommended.at("n"), "c") << "within the tolerance, and earlier in the list";
  EXPECT_NEAR(answers->gain->value, 0.299, 0.001);
  EXPECT_NEAR(answers->effects.front().values.front().second, 0.3, 1e-9);
  SweepBuilder losses({"x", "y"});
  for (int round = 0; round < 2; ++round) losses.add("x", round, 0).add("y", round, -2);
  EXPECT_EQ(losses.answers()->best.at("n"), "y");
  EXPECT_NEAR(losses.answers()->gain->value, 2, 1e-9);
  SweepBuilder positive({"x"});
  EXPECT_FALSE(compares_differences(positive.add("x", 0, 1).run()));
}

TEST(SweepAnswers, a_cost_is_the_number_or_its_reciprocal) {
  schema::SweepOutcome outcome;
  outcome.metrics["seconds"] = 4;
  EXPECT_EQ(sweep_cost(outcome, {}), 4);
  EXPECT_EQ(sweep_cost(outcome, {"seconds", true}), 0.25);
}

TEST(SweepAnswers, tells_the_gain_over_the_first_combination_and_each_parameters_effect) {
  SweepBuilder runs({"a", "b"});
  for (int round = 0; round < 3; ++round) runs.add("a", round, 2 + 0.002 * round).add("b", round, 1);
  const auto answers = runs.answers();
  ASSERT_TRUE(answers && answers->gain);
  EXPECT_NEAR(answers->gain->value, 2, 0.01);
  EXPECT_GT(answers->gain->low, 1.9);
  ASSERT_EQ(answers->effects.size(), 1U);
  EXPECT_NEAR(answers->effects[0].values[0].second, 2, 0.01);
  EXPECT_EQ(answers->effects[0].values[1].second, 1);
}

TEST(SweepAnswers, warm_ups_do_not_count) {
  SweepBuilder runs({"a", "b"});
  runs.add("b", -1, 0.1).add("a", 0, 1).add("b", 0, 2);
  runs.run().trials.front().stage = schema::SweepStage::warmup;
  EXPECT_EQ(runs.answers()->best.at("n"), "a");
}

TEST(SweepAnswers, equal_combinations_are_rarely_told_apart) {
  // Twelve that are all the same, 1 % noise: the luckiest may not seem better than the others in more than 5 % of runs
  // (of 200: 20 leave room for chance).
  base::Random random(7);
  int wrong = 0;
  for (int trial = 0; trial < 200; ++trial) {
    SweepBuilder runs({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"});
    runs.run().request.min_effect = 0;
    for (int round = 0; round < 3; ++round)
      for (const auto& value : runs.run().request.job.parameters.front().values)
        runs.add(value, round, std::exp(0.01 * random.normal()));
    const auto points = runs.points();
    wrong += std::all_of(points.begin(), points.end(), [](const auto& point) { return point.tie; }) ? 0 : 1;
  }
  EXPECT_LE(wrong, 20);
}

TEST(SweepAnswers, a_difference_of_six_percent_is_seen_through_one_percent_of_noise) {
  base::Random random(11);
  int seen = 0;
  for (int trial = 0; trial < 100; ++trial) {
    SweepBuilder runs({"a", "b", "c", "d"});
    for (int round = 0; round < 3; ++round)
      for (const auto& value : runs.run().request.job.parameters.front().values)
        runs.add(value, round, (value == "c" ? 1.0 : 1.06) * std::exp(0.01 * random.normal()));
    const auto points = runs.points();
    const bool alone = points[0].point.at("n") == "c" && !points[1].tie && !points[2].tie && !points[3].tie;
    seen += alone ? 1 : 0;
  }
  EXPECT_GE(seen, 80);
}

}  // namespace
}  // namespace ridgeline::analysis
