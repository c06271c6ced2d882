// SPDX-License-Identifier: Apache-2.0
// Models whose outputs are not the same in each call, and runs without a usable trial.
#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "fakes/tune_campaign_fixture.hpp"
#include "fakes/words.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;
using schema::TrialStatus;

class RandomOutputsTest : public fakes::TuneCampaignFixture {
 protected:
  void SetUp() override {
    fakes::TuneCampaignFixture::SetUp();
    executor_.model.random_nodes = {"RandomNormalLike \"noise\""};
    executor_.reference_variation = schema::CallVariation{{"y"}, 16, false, {}, ""};
    executor_.spread = [](const Configuration& c) {
      schema::SpreadError error;
      error.calls = 16;
      error.output = "y";
      error.statistic = schema::OutputStatistic::mean;
      error.distance = c.contains("enable_mem_pattern") ? 30 : 2;
      error.relative = 0.4;
      return error;
    };
  }
  static std::string notes(const TuneResult& result) {
    std::string all;
    for (const auto& note : result.run.notes) all += fakes::text_of(note) + "\n";
    return all;
  }
  static void expect_parts(const std::string& text, std::initializer_list<std::string_view> parts) {
    for (const auto part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  }
};

TEST_F(RandomOutputsTest, are_judged_by_their_distribution_and_the_operator_is_named) {
  const auto result = must_run();
  expect_parts(notes(result), {"output \"y\" changes from call to call",
                               "RandomNormalLike \"noise\" draws random numbers", "over 16 calls"});
  ASSERT_TRUE(result.run.call_variation);
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::change);
  for (const auto& trial : result.run.trials)
    EXPECT_EQ(result.outcomes.at(trial.key).status,
              trial.configuration.contains("enable_mem_pattern") ? TrialStatus::rejected_accuracy : TrialStatus::ok);
  // Told from the store as well, where the reference is not made again.
  const auto again = must_run();
  EXPECT_EQ(executor_.references_made, 1);
  expect_parts(notes(again), {"output \"y\" changes from call to call"});
}

TEST_F(RandomOutputsTest, without_a_known_operator_say_so) {
  executor_.model.random_nodes.clear();
  executor_.model.node_counts["com.example.Sample"] = 1;
  expect_parts(notes(must_run()), {"though no operator is known to be random", "com.example.Sample may be"});
}

TEST_F(RandomOutputsTest, of_a_seed_are_told) {
  executor_.reference_variation->repeats = true;
  expect_parts(notes(must_run()), {"the same in each new session"});
}

TEST_F(RandomOutputsTest, trials_that_were_compared_value_by_value_are_measured_again) {
  const auto spread = std::exchange(executor_.spread, nullptr);
  must_run();
  executor_.spread = spread;
  const auto cached = [](const TuneResult& result) {
    return std::count_if(result.run.trials.begin(), result.run.trials.end(),
                         [](const auto& one) { return one.cached; });
  };
  EXPECT_EQ(cached(must_run()), 0);
  const auto last = must_run();
  EXPECT_EQ(static_cast<std::size_t>(cached(last)), last.run.trials.size());
}

TEST_F(RandomOutputsTest, state_is_not_random_and_ends_the_run_at_once) {
  executor_.reference_variation->trend =
      fakes::legacy("output \"y\" grows with each call, from a mean of 0 to 7 over 8 calls");
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::ErrorCode::invalid_argument);
  expect_parts(base::error_line(result.error()),
               {"model.onnx: output \"y\" grows", "keeps state", "--accuracy-tolerance off"});
  EXPECT_EQ(executor_.trials_run, 0);
  request_.check_accuracy = false;
  EXPECT_TRUE(run());
}

TEST_F(RandomOutputsTest, text_that_changes_cannot_be_judged) {
  executor_.reference_variation->unjudged = "label";
  const auto result = run();
  ASSERT_FALSE(result);
  expect_parts(base::error_line(result.error()), {"output \"label\"", "no numbers", "--accuracy-tolerance off"});
}

class NoUsableTrialTest : public fakes::TuneCampaignFixture {};

TEST_F(NoUsableTrialTest, names_the_most_frequent_cause_its_value_and_a_way_out) {
  executor_.output_error = [](const Configuration&) { return 0.25; };
  executor_.failure = [](const Configuration& c) {
    return c.empty() ? std::optional(TrialStatus::crashed) : std::nullopt;
  };
  const auto result = must_run();
  const auto reason = fakes::text_of(result.run.verdict->reason);
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::none);
  for (const auto* part :
       {"configurations were rejected for their outputs", "scaled error 0.25", "--accuracy-tolerance 0.28 accepts it"})
    EXPECT_NE(reason.find(part), std::string::npos) << part << " is not in: " << reason;
}

TEST_F(NoUsableTrialTest, that_fails_alike_is_counted_once) {
  executor_.failure = [](const Configuration&) { return TrialStatus::timeout; };
  const auto result = must_run();
  const auto reason = fakes::text_of(result.run.verdict->reason);
  EXPECT_EQ(reason.find(fmt::format("all {} configurations failed (timeout); trial 1: made to fail; ",
                                    result.run.trials.size())),
            0U)
      << reason;
  EXPECT_NE(reason.find("--max-time"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::campaign
