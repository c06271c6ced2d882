// SPDX-License-Identifier: Apache-2.0
// What a campaign does when --max-time is over, or nearly.
#include <algorithm>
#include <chrono>

#include "fakes/tune_campaign_fixture.hpp"
#include "fakes/words.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;
using schema::Value;

using CampaignTimeTest = fakes::TuneCampaignFixture;

TEST_F(CampaignTimeTest, spends_no_more_than_its_time_on_the_search) {
  request_.max_time = std::chrono::nanoseconds(1);
  const auto result = must_run();
  EXPECT_LE(result.run.trials.size(), 2U);  // one of the search, and the current configuration
  ASSERT_FALSE(result.run.notes.empty());
  EXPECT_NE(fakes::text_of(result.run.notes.front()).find("time budget"), std::string::npos);
}

// MobileNetV3 on an H200 whose libraries were read for the first time: the start took 3 s, and a quick run of ten ended
// with the defaults.
TEST_F(CampaignTimeTest, a_slow_start_of_the_runtime_does_not_end_the_search) {
  request_.search = "quick";
  request_.max_time = std::chrono::seconds(10);
  request_.paired.max_time_s = 1;
  executor_.duration_s = [](int trial) { return trial == 1 ? 9.5 : 0.5; };
  const auto result = must_run();
  EXPECT_GT(result.run.trials.size(), 3U);
  EXPECT_EQ(result.run.verdict->configuration, (Configuration{{"intra_op_num_threads", 2}}));
}

// --max-time 5s with a trial that hung waited for the trial's own 60 s, and kept a timeout of its settings.
TEST_F(CampaignTimeTest, a_trial_that_the_time_ends_is_no_result_and_the_answer_comes_from_the_others) {
  request_.max_time = std::chrono::seconds(100);
  executor_.duration_s = [](int) { return 0.1; };
  std::optional<Configuration> hung;  // the first candidate
  executor_.hangs = [&](const Configuration& c) {
    if (!hung && !c.empty()) hung = c;
    return hung == c;
  };
  const auto tried = [&](const TuneResult& result) {
    return std::any_of(result.run.trials.begin(), result.run.trials.end(),
                       [&](const auto& trial) { return trial.configuration == *hung && !trial.cached; });
  };
  const auto cut = must_run();
  EXPECT_EQ(cut.run.verdict->decision, schema::Decision::change);
  EXPECT_FALSE(cut.run.interrupted);
  ASSERT_TRUE(hung);
  EXPECT_FALSE(tried(cut)) << "kept as a trial";
  ASSERT_FALSE(cut.run.notes.empty());
  EXPECT_EQ(fakes::text_of(cut.run.notes.front()).find(hung->to_text() + ": ended in phase measure"), 0U)
      << fakes::text_of(cut.run.notes.front());
  EXPECT_NE(fakes::text_of(cut.run.notes.front()).find("--max-time"), std::string::npos);
  executor_.hangs = [](const Configuration&) { return false; };
  EXPECT_TRUE(tried(must_run()));
}

TEST_F(CampaignTimeTest, says_what_was_under_way_when_the_time_was_over_before_anything_was_measured) {
  request_.max_time = std::chrono::seconds(100);
  executor_.hangs = [](const Configuration&) { return true; };
  const auto trial = must_run();
  EXPECT_EQ(trial.run.verdict->decision, schema::Decision::none);
  EXPECT_FALSE(trial.run.interrupted);
  EXPECT_TRUE(trial.run.trials.empty());
  EXPECT_EQ(fakes::text_of(trial.run.verdict->reason)
                .find("--max-time of 100 s was over before any configuration was measured"),
            0U)
      << fakes::text_of(trial.run.verdict->reason);
  EXPECT_NE(fakes::text_of(trial.run.verdict->reason).find("ended in phase measure"), std::string::npos)
      << fakes::text_of(trial.run.verdict->reason);
  executor_.reference_hangs = true;
  request_.use_store = false;
  request_.reference_folder = folder_ / "other";
  const auto reference = must_run();
  EXPECT_NE(fakes::text_of(reference.run.verdict->reason).find("the reference outputs: ended"), std::string::npos)
      << fakes::text_of(reference.run.verdict->reason);
}

TEST_F(CampaignTimeTest, a_comparison_that_the_time_ends_leaves_no_verdict) {
  request_.max_time = std::chrono::seconds(100);
  executor_.pair_hangs = [](const Configuration&) { return true; };
  const auto result = must_run();
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::none);
  EXPECT_TRUE(result.run.pairs.empty());
  EXPECT_NE(fakes::text_of(result.run.verdict->reason).find("before the finalists were compared: best so far"),
            std::string::npos)
      << fakes::text_of(result.run.verdict->reason);
}

TEST_F(CampaignTimeTest, a_contribution_whose_comparison_the_time_ends_leaves_the_winner) {
  request_.max_time = std::chrono::seconds(100);
  executor_.cost_ns = [](const Configuration& c) {
    return (c.get_or("intra_op_num_threads", 0) == Value(2) ? 1e6 : 2e6) *
           (c.contains("enable_mem_pattern") ? 0.8 : 1.0);
  };
  executor_.pair_hangs = [](const Configuration& other) { return other.size() < 2; };
  request_.finalists = 1;
  const auto result = must_run();
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::change);
  EXPECT_EQ(result.run.verdict->configuration.size(), 2U);
  ASSERT_FALSE(result.run.notes.empty());
  EXPECT_NE(fakes::text_of(result.run.notes.back()).find("answer is based on earlier measurements"), std::string::npos);
}

// A run with 20 s took 44: on an uneven machine one comparison went on for its own 30.
TEST_F(CampaignTimeTest, the_blocks_of_a_comparison_get_15_percent_of_the_time_at_most) {
  (void)must_run();
  for (const auto& plan : executor_.pair_plans) EXPECT_GT(plan.max_time_s, 15);
  executor_.pair_plans.clear();
  request_.use_store = false;
  request_.max_time = std::chrono::seconds(20);
  (void)must_run();
  ASSERT_FALSE(executor_.pair_plans.empty());
  for (const auto& plan : executor_.pair_plans) {
    EXPECT_LE(plan.max_time_s, 3);
    EXPECT_LE(plan.warmup.warmup_max_s, 0.75) << "each arm's warm-up counts too";
    EXPECT_LE(plan.min_time_s, 1.5);
  }
}

TEST_F(CampaignTimeTest, an_answer_to_keep_says_that_the_search_was_cut_short) {
  executor_.cost_ns = [](const Configuration&) { return 1e6; };
  EXPECT_EQ(fakes::text_of(must_run().run.verdict->reason).find("time for"), std::string::npos);
  request_.use_store = false;
  request_.max_time = std::chrono::nanoseconds(1);
  const auto result = must_run();
  ASSERT_EQ(result.run.verdict->decision, schema::Decision::keep);
  EXPECT_NE(fakes::text_of(result.run.verdict->reason).find("time for"), std::string::npos)
      << fakes::text_of(result.run.verdict->reason);
}

// A simpler one takes the place of the fastest only where it is shown to be as good, for which there is no time here.
TEST_F(CampaignTimeTest, time_for_one_comparison_goes_to_the_fastest) {
  const Configuration idle{{"enable_mem_pattern", false}, {"intra_op_num_threads", 2}};
  executor_.noise = 0.001;
  executor_.cost_ns = [&](const Configuration& c) {
    if (c == idle) return 0.9995e6;
    return c.get_or("intra_op_num_threads", 0) == Value(2) ? 1e6 : 2e6;
  };
  executor_.setup_s = [](const Configuration&) { return 5.0; };
  request_.leave_one_out = false;
  request_.max_time = std::chrono::seconds(60);
  const auto result = must_run();
  ASSERT_FALSE(result.run.pairs.empty());
  EXPECT_EQ(result.run.pairs.front().b, idle);
}

TEST_F(CampaignTimeTest, begins_no_comparison_that_its_time_cannot_hold) {
  const Configuration slow_to_set_up{{"enable_mem_pattern", false}, {"intra_op_num_threads", 2}};
  executor_.noise = 0.001;
  executor_.setup_s = [&](const Configuration& c) { return c == slow_to_set_up ? 1000.0 : 0.0; };
  request_.finalists = 2;
  request_.leave_one_out = false;
  request_.search = "quick";
  request_.max_time = std::chrono::seconds(100);
  request_.paired.max_time_s = 1;
  for (const bool front : {true, false}) {
    SCOPED_TRACE(front);
    request_.seed = front ? 1 : 2;
    request_.use_store = false;
    executor_.cost_ns = [&](const Configuration& c) {
      if (c == slow_to_set_up) return front ? 0.9995e6 : 1.0005e6;
      return c.get_or("intra_op_num_threads", 0) == Value(2) ? 1e6 : 2e6;
    };
    const auto result = must_run();
    EXPECT_TRUE(std::any_of(result.run.trials.begin(), result.run.trials.end(),
                            [&](const auto& trial) { return trial.configuration == slow_to_set_up; }));
    for (const auto& pair : result.run.pairs) EXPECT_NE(pair.b, slow_to_set_up);
    EXPECT_EQ(result.run.verdict->configuration, (Configuration{{"intra_op_num_threads", 2}}));
  }
}

// MobileNetV3 on an H200 host with a slow CPU: the sixth trial was 7 % faster than the others and took 3.9 s to set up,
// and a quick run of ten seconds 14.1.
TEST_F(CampaignTimeTest, where_one_comparison_is_all_it_takes_what_is_nearly_as_fast_and_set_up_in_time) {
  const Configuration slow_to_set_up{{"enable_mem_pattern", false}, {"intra_op_num_threads", 2}};
  double fastest = 0.93;
  executor_.noise = 0.001;
  executor_.setup_s = [&](const Configuration& c) { return c == slow_to_set_up ? 1000.0 : 0.0; };
  executor_.cost_ns = [&](const Configuration& c) {
    if (c == slow_to_set_up) return fastest * 1e6;
    return c.get_or("intra_op_num_threads", 0) == Value(2) ? 1e6 : 2e6;
  };
  request_.finalists = 1;
  request_.leave_one_out = false;
  request_.use_store = false;
  request_.max_time = std::chrono::seconds(100);
  request_.paired.max_time_s = 1;
  const auto near = must_run();
  ASSERT_EQ(near.run.pairs.size(), 1U);
  EXPECT_EQ(near.run.pairs[0].b, (Configuration{{"intra_op_num_threads", 2}}));
  EXPECT_TRUE(std::any_of(near.run.notes.begin(), near.run.notes.end(), [](const auto& note) {
    return fakes::text_of(note).find("was faster, but there was no time to set it up again") != std::string::npos;
  }));
  fastest = 0.8;
  const auto far = must_run();
  ASSERT_EQ(far.run.pairs.size(), 1U);
  EXPECT_EQ(far.run.pairs[0].b, slow_to_set_up) << "too much to give away";
}

}  // namespace
}  // namespace ridgeline::campaign
