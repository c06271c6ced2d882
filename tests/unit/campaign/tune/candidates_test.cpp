// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/candidates.hpp"

#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "analysis/candidate_table.hpp"
#include "analysis/ranking.hpp"
#include "base/file.hpp"
#include "campaign/tune/tune_kind.hpp"
#include "fakes/stored_results.hpp"
#include "fakes/tune_campaign_fixture.hpp"
#include "fakes/words.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;

/// Beside the usual runtime one that takes a third longer and one that takes ten times as long.
class CandidatesTest : public fakes::TuneCampaignFixture {
 protected:
  void SetUp() override {
    TuneCampaignFixture::SetUp();
    executor_.other_runtimes = {{"/fast.so", 0.6}, {"/hopeless.so", 10}};
    request_.provider = "auto";
  }
  static std::size_t trials_of(const schema::TuneRun& run, const std::string& id) {
    return static_cast<std::size_t>(std::count_if(run.trials.begin(), run.trials.end(), [&](const auto& trial) {
      return schema::candidate_of(trial.configuration) == id;
    }));
  }
};

TEST_F(CandidatesTest, without_being_asked_for_nothing_else_is_tried) {
  request_.provider = "";
  const auto run = must_run().run;
  EXPECT_TRUE(run.candidates.empty());
  EXPECT_EQ(trials_of(run, ""), run.trials.size());
}

TEST_F(CandidatesTest, the_fastest_runtime_is_recommended_with_its_settings_and_its_code) {
  const auto result = must_run();
  const auto& run = result.run;
  ASSERT_EQ(run.candidates.size(), 2U);
  EXPECT_EQ(run.candidates[0].id, "cpu@1.29.0#2");
  EXPECT_EQ(run.candidates[0].runtime.library_path, "/fast.so");
  ASSERT_TRUE(run.verdict);
  EXPECT_EQ(run.verdict->decision, schema::Decision::change);
  EXPECT_EQ(run.verdict->configuration, (Configuration{{"candidate", "cpu@1.29.0#2"}, {"intra_op_num_threads", 2}}));
  ASSERT_TRUE(run.verdict->gain);
  EXPECT_NEAR(run.verdict->gain->ratio, 2 / 0.6, 0.05);
  ASSERT_TRUE(run.verdict->code);
  EXPECT_NE(run.verdict->code->cpp.find("/fast.so"), std::string::npos);
  // Trials are stored as what they are, so that a plain run on that runtime knows them.
  EXPECT_EQ(store_->find_trial(run.trials[1].key).value()->spec.configuration.find("candidate"), nullptr);
  const auto again = load_stored(*store_, run.id);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->run.verdict->code->python, run.verdict->code->python);
}

TEST_F(CandidatesTest, what_is_hopeless_at_its_defaults_is_not_searched) {
  const auto result = must_run();
  EXPECT_EQ(trials_of(result.run, "cpu@1.29.0#3"), 1U);
  EXPECT_GT(trials_of(result.run, "cpu@1.29.0#2"), 4U);
  const auto table = analysis::candidate_table(result.run, result.outcomes);
  ASSERT_EQ(table.size(), 3U);
  EXPECT_EQ(table[0].candidate.id, "");
  EXPECT_EQ(table[1].candidate.runtime.library_path, "/fast.so");
  EXPECT_NEAR(table[1].against_current->ratio, 1 / 0.6, 0.1);
  EXPECT_NE(fakes::text_of(table[2].left).find("times the leader's time after 1 of its configurations"),
            std::string::npos)
      << fakes::text_of(table[2].left);
}

TEST_F(CandidatesTest, the_code_of_the_recommendation_is_run_by_the_interpreter_that_has_its_package) {
  const auto site = folder_ / "env/lib/python3.11/site-packages";
  const auto library = (site / "onnxruntime/capi/libonnxruntime.so.1.24.1").string();
  std::filesystem::create_directories(folder_ / "env/bin");
  std::ofstream(folder_ / "env/bin/python3.11") << "";
  executor_.other_runtimes = {{library, 0.6}};
  std::vector<std::string> programs;
  executor_.command = [&](const execute::CommandTrial& trial) -> base::Result<schema::SweepOutcome> {
    schema::SweepOutcome outcome;
    if (trial.spec.job.command.front() == "/bin/sh") {
      outcome.status = schema::TrialStatus::failed;
      outcome.failure.emplace().message = fakes::legacy("no such header");
      return outcome;
    }
    programs = trial.spec.job.command;
    programs.push_back(base::read_file(programs.back()).value_or(""));
    outcome.metrics["median_s"] = 0.0006;
    return outcome;
  };
  const auto run = must_run().run;
  ASSERT_TRUE(run.verdict && run.verdict->code && run.verdict->code->python_run);
  EXPECT_EQ(run.verdict->code->python_run->command, (folder_ / "env/bin/python3.11").string());
  EXPECT_EQ(run.verdict->code->python_run->median_s, 0.0006);
  ASSERT_EQ(programs.size(), 3U);
  EXPECT_EQ(programs[2].find(run.verdict->code->python), 0U) << "the lines themselves, then the loop that times them";
  EXPECT_FALSE(run.verdict->code->cpp_run->problem.empty()) << "no compiler, no headers, or what the compiler said";
}

// Python against Python: a program of one kind is no yardstick for trials.
TEST_F(CandidatesTest, the_code_of_the_current_configuration_is_timed_in_the_same_way) {
  const auto site = [&](const char* name) { return folder_ / name / "lib/python3.11/site-packages"; };
  for (const auto* name : {"old", "new"}) {
    std::filesystem::create_directories(folder_ / name / "bin");
    std::ofstream(folder_ / name / "bin/python3.11") << "";
  }
  const auto fast = (site("new") / "onnxruntime/capi/libonnxruntime.so.1.24.1").string();
  executor_.runtime_library = (site("old") / "onnxruntime/capi/libonnxruntime.so.1.20.1").string();
  executor_.other_runtimes = {{fast, 0.6}};
  executor_.command = [&](const execute::CommandTrial& trial) -> base::Result<schema::SweepOutcome> {
    schema::SweepOutcome outcome;
    if (trial.spec.job.command.front() == "/bin/sh") {
      outcome.status = schema::TrialStatus::failed;
      outcome.failure.emplace().message = fakes::legacy("no such header");
      return outcome;
    }
    outcome.metrics["median_s"] = trial.spec.job.command.front().find("/old/") != std::string::npos ? 0.001 : 0.0006;
    return outcome;
  };
  const auto run = must_run().run;
  ASSERT_TRUE(run.verdict && run.verdict->code && run.verdict->code->python_run);
  EXPECT_EQ(run.verdict->code->python_run->median_s, 0.0006);
  EXPECT_EQ(run.verdict->code->python_run->current_median_s, 0.001);
  EXPECT_FALSE(run.verdict->code->cpp_run->current_median_s) << "what did not run is not compared";
}

TEST_F(CandidatesTest, settings_alone_have_their_code_too_and_it_is_not_run) {
  executor_.other_runtimes = {};
  request_.provider = "";
  executor_.command = [&](const execute::CommandTrial&) -> base::Result<schema::SweepOutcome> {
    ADD_FAILURE() << "nothing is to be run";
    return schema::SweepOutcome{};
  };
  const auto run = must_run().run;
  ASSERT_EQ(run.verdict->decision, schema::Decision::change);
  ASSERT_TRUE(run.verdict->code);
  EXPECT_NE(run.verdict->code->python.find("options.intra_op_num_threads = 2"), std::string::npos);
  EXPECT_NE(run.verdict->code->cpp.find("options.SetIntraOpNumThreads(2);"), std::string::npos);
  EXPECT_EQ(run.verdict->code->cpp.find("dlopen"), std::string::npos) << "their program is linked to it already";
  EXPECT_FALSE(run.verdict->code->python_run);
  request_.current = run.verdict->configuration;
  const auto kept = must_run().run;
  ASSERT_EQ(kept.verdict->decision, schema::Decision::keep);
  ASSERT_TRUE(kept.verdict->code) << "what is kept, where nothing changes";
  EXPECT_EQ(kept.verdict->code->python, run.verdict->code->python);
}

TEST_F(CandidatesTest, a_change_of_runtime_is_worth_its_trouble_at_the_lower_end) {
  executor_.cost_ns = [](const Configuration&) { return 1e6; };
  executor_.noise = 0.2;
  request_.min_effect = 0.15;
  request_.use_store = false;
  for (const double pace : {0.86, 0.7}) {
    executor_.other_runtimes = {{"/fast.so", pace}};
    const auto run = must_run().run;
    const auto* met = analysis::best_finalist(run);
    ASSERT_NE(met, nullptr);
    ASSERT_EQ(met->comparison->verdict, schema::Verdict::faster) << met->comparison->low;
    ASSERT_GT(met->comparison->ratio, 1.15);
    if (pace == 0.7) {
      ASSERT_GT(met->comparison->low, 1.15);
      EXPECT_EQ(run.verdict->decision, schema::Decision::change);
      continue;
    }
    ASSERT_LT(met->comparison->low, 1.15);
    EXPECT_EQ(run.verdict->decision, schema::Decision::keep) << fakes::text_of(run.verdict->reason);
    EXPECT_NE(fakes::text_of(run.verdict->reason).find("but on another runtime"), std::string::npos)
        << fakes::text_of(run.verdict->reason);
    EXPECT_TRUE(std::any_of(run.pairs.begin(), run.pairs.end(), [&](const auto& pair) {
      return pair.purpose == schema::PairPurpose::finalist && schema::candidate_of(pair.b).empty();
    })) << "what runs on their own runtime has its chance";
  }
}

TEST_F(CandidatesTest, every_candidate_meets_the_current_configuration_at_its_defaults_in_turns) {
  const auto result = must_run();
  const auto table = analysis::candidate_table(result.run, result.outcomes);
  ASSERT_EQ(table.size(), 3U);
  for (const auto& row : {table[1], table[2]}) {
    ASSERT_TRUE(row.against_current);
    EXPECT_GE(row.against_current->abba_rounds, 4U) << row.candidate.id << ": separate trials have none";
  }
  EXPECT_NEAR(table[2].against_current->ratio, 0.1, 0.005);
  EXPECT_EQ(std::count_if(result.run.pairs.begin(), result.run.pairs.end(),
                          [](const auto& pair) { return pair.purpose == schema::PairPurpose::candidate; }),
            2);
}

TEST_F(CandidatesTest, without_time_for_it_no_candidate_is_compared_at_its_defaults) {
  request_.max_time = std::chrono::seconds(5);
  for (const auto& pair : must_run().run.pairs) EXPECT_NE(pair.purpose, schema::PairPurpose::candidate);
}

TEST_F(CandidatesTest, a_change_of_runtime_is_not_recommended_where_it_is_no_faster) {
  executor_.other_runtimes = {{"/same.so", 1}};
  const auto run = must_run().run;
  EXPECT_EQ(run.verdict->configuration, (Configuration{{"intra_op_num_threads", 2}}));
}

TEST_F(CandidatesTest, a_settings_contribution_is_measured_on_the_winners_runtime) {
  request_.current = {{"enable_mem_pattern", false}};
  const auto result = must_run();
  std::vector<std::string> settings;
  for (const auto& pair : result.run.pairs) {
    if (pair.purpose != schema::PairPurpose::leave_one_out) continue;
    EXPECT_EQ(schema::candidate_of(pair.b), "cpu@1.29.0#2") << pair.b.to_text();
    settings.push_back(pair.setting);
  }
  EXPECT_EQ(settings, std::vector<std::string>{"intra_op_num_threads"});
}

TEST_F(CandidatesTest, applying_writes_the_provider_but_no_candidate) {
  const auto run = must_run().run;
  const auto change = tune_change(run, "provider: cpu\nintra_op_num_threads: 4\n", {.file = "config.yaml"});
  ASSERT_TRUE(change) << change.error().message;
  EXPECT_EQ(change->patch.text, "provider: cpu\nintra_op_num_threads: 2\n");
  auto elsewhere = run;
  elsewhere.candidates[0].provider = "openvino";
  EXPECT_EQ(tune_change(elsewhere, "provider: cpu\n", {.file = "config.yaml"})->patch.text,
            "provider: openvino\nonnxruntime:\n  intra_op_num_threads: 2\n");
}

}  // namespace
}  // namespace ridgeline::campaign
