// SPDX-License-Identifier: Apache-2.0
#include "campaign/sweep/sweep_campaign.hpp"

#include <fstream>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "campaign/sweep/sweep_files.hpp"
#include "fakes/messages_in.hpp"
#include "fakes/temporary_folder.hpp"
#include "fakes/typed_executor.hpp"
#include "fakes/words.hpp"

namespace ridgeline::campaign {
namespace {

using schema::SweepOutcome;
using schema::SweepPoint;
using schema::TrialStatus;

/// Answers from a function, and remembers what it was asked.
class FakeSweepExecutor final : public fakes::TypedExecutor {
 public:
  using Answer = std::function<base::Result<SweepOutcome>(const schema::SweepTrialSpec&)>;
  explicit FakeSweepExecutor(Answer answer) : answer_(std::move(answer)) {}
  base::Result<SweepOutcome> run_command(const execute::CommandTrial& trial, const execute::TimeLeft&) override {
    asked.emplace_back(trial.spec.point, trial.spec.repeat);
    return answer_(trial.spec);
  }
  std::vector<std::pair<SweepPoint, int>> asked;

 private:
  Answer answer_;
};

SweepOutcome seconds(double value) {
  SweepOutcome out;
  out.metrics["seconds"] = value;
  return out;
}
SweepOutcome failure(TrialStatus status, const std::string& message) {
  SweepOutcome out;
  out.status = status;
  out.failure.emplace();
  out.failure->message = fakes::legacy(message);
  return out;
}
double number(const schema::SweepTrialSpec& spec, const char* name) { return std::stod(spec.point.at(name)); }

class SweepCampaignTest : public testing::Test {
 protected:
  SweepCampaignTest() {
    request_.job.command = {"/bin/true", "{a}", "{b}"};
    request_.job.parameters = {{"a", {"1", "2", "4"}}, {"b", {"3", "5"}}};
    request_.job.directory = folder_.path().string();
    request_.folder = folder_ / "sweeps";
  }
  base::Result<schema::SweepRun> run(FakeSweepExecutor& executor) {
    SweepObserver observer;
    auto store = store::Store::open(folder_ / "r.db").value();
    return SweepCampaign(executor, store, observer, cancelled_).run(request_);
  }

  fakes::TemporaryFolder folder_;
  SweepRequest request_;
  std::function<bool()> cancelled_;
};

TEST_F(SweepCampaignTest, measures_every_combination_in_turned_rounds) {
  FakeSweepExecutor executor([](const auto& spec) { return seconds(number(spec, "a") * number(spec, "b")); });
  const auto result = run(executor);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(executor.asked.size(), 18U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(executor.asked[i].second, 0);
    EXPECT_EQ(executor.asked[i].first, executor.asked[11 - i].first);
    EXPECT_EQ(executor.asked[i].first, executor.asked[12 + i].first);
  }
  EXPECT_EQ(executor.asked[0].first, (SweepPoint{{"a", "1"}, {"b", "3"}}));
  ASSERT_TRUE(result->answers);
  EXPECT_EQ(result->answers->best, (SweepPoint{{"a", "1"}, {"b", "3"}}));
  EXPECT_EQ(result->points.size(), 6U);
  EXPECT_EQ(result->space_size, 6);
}

TEST_F(SweepCampaignTest, what_a_run_says_is_of_the_catalogues) {
  FakeSweepExecutor executor([](const auto& spec) { return seconds(number(spec, "a")); });
  request_.warmups = 1;
  request_.min_effect = 1;
  const auto result = run(executor);
  ASSERT_TRUE(result && result->answers);
  const auto said = fakes::messages_in(*result);
  EXPECT_EQ(said.size(), 3U) << "of the warm-up, the answer and --min-effect";
  for (const auto& message : said) {
    EXPECT_NE(fakes::words().find(message.code()), nullptr) << message.code();
    EXPECT_NE(message.code(), schema::kLegacy) << fakes::text_of(message);
  }
}

TEST_F(SweepCampaignTest, goes_on_from_the_store) {
  FakeSweepExecutor executor([](const auto& spec) { return seconds(number(spec, "a")); });
  cancelled_ = [&] { return executor.asked.size() >= 7; };
  const auto first = run(executor);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->interrupted);
  EXPECT_TRUE(first->answers);
  cancelled_ = {};
  const auto second = run(executor);
  ASSERT_TRUE(second);
  EXPECT_EQ(executor.asked.size(), 18U);
  std::set<std::pair<SweepPoint, int>> distinct(executor.asked.begin(), executor.asked.end());
  EXPECT_EQ(distinct.size(), 18U);
  request_.use_store = false;
  ASSERT_TRUE(run(executor));
  EXPECT_EQ(executor.asked.size(), 36U);
}

TEST_F(SweepCampaignTest, a_changed_file_is_a_new_question_but_not_one_that_the_command_writes) {
  const auto script = (folder_ / "train.sh").string();
  const auto model = (folder_ / "model.bin").string();
  const auto put = [](const std::string& path, const std::string& text) { std::ofstream(path) << text; };
  put(script, "one");
  put(model, "0");
  request_.job.command = {"/bin/sh", script, "--out=" + model, "{a}", "{b}"};
  int count = 0;
  FakeSweepExecutor executor([&](const auto&) {
    put(model, std::string(static_cast<std::size_t>(++count), 'x'));
    return seconds(1);
  });
  ASSERT_TRUE(run(executor));
  ASSERT_TRUE(run(executor));
  EXPECT_EQ(executor.asked.size(), 18U);
  put(script, "two!");
  ASSERT_TRUE(run(executor));
  EXPECT_EQ(executor.asked.size(), 36U);
}

TEST_F(SweepCampaignTest, failures_are_tried_again_but_not_what_ran_out_of_memory) {
  FakeSweepExecutor executor([](const auto& spec) -> SweepOutcome {
    if (spec.point.at("a") == "4") return failure(TrialStatus::out_of_memory, "OOM");
    if (spec.point.at("a") == "2") return failure(TrialStatus::failed, "exit code 1");
    return seconds(1);
  });
  request_.repeats = 1;
  ASSERT_TRUE(run(executor));
  EXPECT_EQ(executor.asked.size(), 6U);
  ASSERT_TRUE(run(executor));
  EXPECT_EQ(executor.asked.size(), 8U);  // the two that failed
}

TEST_F(SweepCampaignTest, a_timeout_holds_for_shorter_limits_only) {
  FakeSweepExecutor executor([](const auto& spec) {
    auto out = failure(TrialStatus::timeout, "late");
    out.timeout_s = spec.job.timeout_s;
    return out;
  });
  request_.repeats = 1;
  request_.job.timeout_s = 10;
  ASSERT_TRUE(run(executor));
  request_.job.timeout_s = 5;
  ASSERT_TRUE(run(executor));
  EXPECT_EQ(executor.asked.size(), 6U);
  request_.job.timeout_s = 20;
  ASSERT_TRUE(run(executor));
  EXPECT_EQ(executor.asked.size(), 12U);
}

TEST_F(SweepCampaignTest, stops_when_the_first_trials_fail_alike) {
  FakeSweepExecutor executor([](const auto&) { return failure(TrialStatus::failed, "exit code 2: no such flag"); });
  const auto stopped = run(executor);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(executor.asked.size(), 3U);
  EXPECT_NE(fakes::text_of(stopped->interruption).find("--keep-going"), std::string::npos);
  EXPECT_FALSE(stopped->answers);
  request_.keep_going = true;
  ASSERT_TRUE(run(executor));
  EXPECT_EQ(executor.asked.size(), 9U);
}

TEST_F(SweepCampaignTest, a_missing_objective_is_a_failed_trial_with_its_cause) {
  request_.objective = {"speed", true};
  FakeSweepExecutor executor([](const auto& spec) {
    auto out = seconds(1);
    if (spec.point.at("a") == "1") out.metrics["sped"] = 1;
    if (spec.point.at("a") == "2") out.metrics["speed"] = -3;
    if (spec.point.at("a") == "4") out.metrics["speed"] = 3;
    return out;
  });
  const auto result = run(executor);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->answers->best.at("a"), "4");
  EXPECT_NE(fakes::words().hint(result->trials[0].outcome.failure->message).find("did you mean \"sped\"?"),
            std::string::npos);
  EXPECT_EQ(result->trials[2].point.at("a"), "2");
  EXPECT_EQ(result->trials[2].outcome.status, schema::TrialStatus::ok) << "0 and below are numbers as well";
}

TEST_F(SweepCampaignTest, an_error_of_ours_ends_the_run) {
  FakeSweepExecutor executor([](const auto&) -> base::Result<SweepOutcome> {
    return base::fail(base::ErrorCode::not_found, "cannot start x");
  });
  const auto result = run(executor);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::ErrorCode::not_found);
}

TEST_F(SweepCampaignTest, the_time_limit_keeps_what_was_found) {
  int count = 0;
  FakeSweepExecutor executor([&](const auto&) -> base::Result<SweepOutcome> {
    if (++count > 4) return base::fail(base::ErrorCode::timeout, "--max-time is used up");
    return seconds(1);
  });
  request_.max_time = std::chrono::hours(1);
  const auto result = run(executor);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->interrupted);
  EXPECT_EQ(fakes::text_of(result->interruption), "--max-time is used up");
  EXPECT_EQ(result->trials.size(), 4U);
  EXPECT_TRUE(result->answers);
}

TEST_F(SweepCampaignTest, adaptive_finds_the_optimum_of_a_large_space_with_few_trials) {
  request_.job.command = {"/bin/true", "{a}", "{b}", "{c}"};
  request_.job.parameters = {{"a", {"1", "2", "3", "4", "5", "6", "7", "8"}},
                             {"b", {"1", "2", "3", "4", "5", "6"}},
                             {"c", {"x", "y", "z", "w"}}};
  request_.search = "adaptive";
  request_.repeats = 2;
  FakeSweepExecutor executor([](const auto& spec) {
    const double a = number(spec, "a") - 6;
    const double b = number(spec, "b") - 3;
    return seconds((1 + 0.05 * a * a) * (1 + 0.1 * b * b) * (spec.point.at("c") == "z" ? 1 : 1.4));
  });
  const auto result = run(executor);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->answers->best, (SweepPoint{{"a", "6"}, {"b", "3"}, {"c", "z"}}));
  EXPECT_EQ(result->space_size, 192);
  EXPECT_LT(executor.asked.size(), 75U);
}

TEST_F(SweepCampaignTest, random_tries_as_many_as_told) {
  request_.search = "random";
  request_.trials = 4;
  request_.repeats = 2;
  FakeSweepExecutor executor([](const auto& spec) { return seconds(number(spec, "a")); });
  const auto result = run(executor);
  ASSERT_TRUE(result);
  EXPECT_EQ(executor.asked.size(), 8U);
  EXPECT_EQ(result->points.size(), 4U);
}

TEST_F(SweepCampaignTest, parameters_named_like_the_catalogues_mean_nothing_else) {
  request_.job.command = {"/bin/true", "{batch_size}", "{inter_op_num_threads}"};
  request_.job.parameters = {{"batch_size", {"8", "1"}}, {"inter_op_num_threads", {"1", "2"}}};
  request_.repeats = 1;
  FakeSweepExecutor executor([](const auto& spec) { return seconds(number(spec, "batch_size")); });
  ASSERT_TRUE(run(executor));
  EXPECT_EQ(executor.asked.size(), 4U);
}

TEST_F(SweepCampaignTest, warm_ups_come_first_and_a_command_without_parameters_is_repeated) {
  request_.job.command = {"/bin/true"};
  request_.job.parameters.clear();
  request_.warmups = 2;
  FakeSweepExecutor executor([](const auto&) { return seconds(1); });
  const auto result = run(executor);
  ASSERT_TRUE(result);
  EXPECT_EQ(executor.asked.size(), 5U);
  EXPECT_EQ(result->trials[1].stage, schema::SweepStage::warmup);
  EXPECT_EQ(result->points.size(), 1U);
  EXPECT_EQ(result->points.front().trials.size(), 3U);
}

TEST(SweepFiles, finds_program_and_files_among_arguments) {
  const fakes::TemporaryFolder folder;
  std::ofstream(folder / "train.py") << "1";
  std::ofstream(folder / "c.yaml") << "2";
  std::ofstream(folder / "lib.py") << "3";
  schema::SweepTrialSpec spec;
  spec.job.directory = folder.path().string();
  spec.job.command = {"sh", "train.py", "--config={name}.yaml", "missing.txt", "{trial_dir}"};
  spec.job.depends = {"lib.py"};
  spec.point = {{"name", "c"}};
  SweepFiles files;
  const auto found = files.named_by(spec);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].path.substr(found[0].path.size() - 3), "/sh");
  EXPECT_EQ(found[1].path, (folder / "train.py").string());
  EXPECT_EQ(found[2].path, (folder / "c.yaml").string());
  EXPECT_EQ(found[3].path, (folder / "lib.py").string());
  std::ofstream(folder / "c.yaml") << "22";
  EXPECT_EQ(files.unchanged(found).size(), 3U);
}

/// Three slots, the trials on each of which take `pace` times as long.
FakeSweepExecutor three_slots(std::vector<double> pace, FakeSweepExecutor*& self) {
  FakeSweepExecutor executor([pace, &self](const auto& spec) {
    return seconds(number(spec, "a") * number(spec, "b") * pace[self->slots_used.back()]);
  });
  executor.places.assign(3, {"gpu", {}});
  return executor;
}

TEST_F(SweepCampaignTest, equal_slots_share_the_trials) {
  FakeSweepExecutor* self = nullptr;
  auto executor = three_slots({1, 1.01, 1}, self);
  self = &executor;
  const auto result = run(executor);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->trials.size(), 18U);
  for (int id = 1; id <= 18; ++id) EXPECT_EQ(result->trials[static_cast<std::size_t>(id - 1)].id, id);
  EXPECT_EQ(result->answers->recommended, (SweepPoint{{"a", "1"}, {"b", "3"}}));
  for (const std::size_t slot : {0U, 1U, 2U})
    EXPECT_GE(std::count(executor.slots_used.begin(), executor.slots_used.end(), slot), 6);
  ASSERT_EQ(result->notes.size(), 1U);
  EXPECT_EQ(fakes::text_of(result->notes[0]).rfind("trials are spread over 3 GPUs", 0), 0U)
      << fakes::text_of(result->notes[0]);
}

TEST_F(SweepCampaignTest, a_slower_slot_gets_no_trial_after_the_check) {
  FakeSweepExecutor* self = nullptr;
  auto executor = three_slots({1, 1, 1.3}, self);
  self = &executor;
  const auto result = run(executor);
  ASSERT_TRUE(result) << result.error().message;
  for (const auto& trial : result->trials)
    EXPECT_DOUBLE_EQ(trial.outcome.metrics.at("seconds"),
                     std::stod(trial.point.at("a")) * std::stod(trial.point.at("b")));
  EXPECT_NE(fakes::text_of(result->notes.at(0)).find("is left out"), std::string::npos)
      << fakes::text_of(result->notes[0]);
}

TEST_F(SweepCampaignTest, few_trials_are_not_worth_a_check) {
  FakeSweepExecutor* self = nullptr;
  auto executor = three_slots({1, 1, 1}, self);
  self = &executor;
  request_.repeats = 1;
  const auto result = run(executor);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(executor.asked.size(), 6U);
  EXPECT_TRUE(result->notes.empty());
}

TEST_F(SweepCampaignTest, an_error_on_one_slot_keeps_what_the_others_measured) {
  int count = 0;
  FakeSweepExecutor executor([&](const auto& spec) -> base::Result<SweepOutcome> {
    if (++count == 12) return base::fail(base::ErrorCode::cancelled, "stopped by a signal");
    return seconds(number(spec, "a") * number(spec, "b"));
  });
  executor.places.assign(2, {"gpu", {}});
  const auto result = run(executor);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->interrupted);
  for (const auto& trial : result->trials) EXPECT_FALSE(trial.outcome.metrics.empty());
}

}  // namespace
}  // namespace ridgeline::campaign
