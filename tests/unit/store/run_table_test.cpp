// SPDX-License-Identifier: Apache-2.0
// Runs of all kinds in one table.
#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "sample_records.hpp"
#include "schema/messages.hpp"
#include "schema/sweep.hpp"
#include "schema/training_run.hpp"
#include "store/sqlite.hpp"

namespace ridgeline::store {
namespace {

schema::BenchRun make_bench(const std::string& id, const std::string& started_utc) {
  schema::BenchRun run;
  run.id = id;
  run.started_utc = run.finished_utc = started_utc;
  run.request.job.kind = "python";
  run.request.job.target = "train:make";
  run.device = "cuda:0";
  run.answers.emplace();
  run.answers->recommended.emplace();
  run.answers->recommended->settings = {128, 4, schema::AmpMode::bf16, true};
  run.answers->recommended->samples_per_s = 900;
  schema::BenchTrial trial;
  trial.id = 1;
  trial.key = "k";
  trial.stage = schema::BenchStage::compute;
  trial.settings.batch = 64;
  trial.data = schema::DataMode::device;
  trial.outcome.status = schema::TrialStatus::out_of_memory;
  run.trials = {trial};
  run.notes = {schema::messages::foreign("a note")};
  return run;
}

schema::SweepRun make_sweep(const std::string& id, const std::string& started_utc) {
  schema::SweepRun run;
  run.id = id;
  run.started_utc = started_utc;
  run.request.job.command = {"train", "{n}"};
  run.request.job.parameters = {{"n", {"1", "2"}}};
  run.points = {schema::SweepSummary{}};
  run.points.front().point = {{"n", "2"}};
  run.points.front().objective.value = 7;
  run.answers.emplace();
  run.answers->recommended = {{"n", "2"}};
  return run;
}

class RunTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(store_.save_run(to_run(make_run("20261121-080000-aaaa", "2026-11-21T08:00:00Z"))));
    ASSERT_TRUE(store_.save_run(to_run(make_bench("20261121-090000-bbbb", "2026-11-21T09:00:00Z"))));
    ASSERT_TRUE(store_.save_run(to_run(make_sweep("20261121-100000-cccc", "2026-11-21T10:00:00Z"))));
  }
  TempFolder folder_;
  Store store_ = *Store::open(folder_ / "r.db");
};

TEST_F(RunTableTest, lists_every_kind_in_one_line_each) {
  const auto runs = *store_.list_runs(10);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].kind, "sweep");
  EXPECT_EQ(runs[0].line.subject, "train {n}");
  EXPECT_EQ(runs[0].line.objective, "min:seconds");
  EXPECT_EQ(fakes::text_of(runs[0].line.answer), "n=2");
  EXPECT_EQ(runs[0].line.decision, "change");
  EXPECT_EQ(runs[0].line.value, 7);
  EXPECT_FALSE(runs[0].finished);
  EXPECT_EQ(runs[1].kind, "bench");
  EXPECT_EQ(runs[1].line.subject, "python train:make");
  EXPECT_EQ(runs[1].line.device, "cuda:0");
  EXPECT_EQ(fakes::text_of(runs[1].line.answer), "batch 128, 4 workers, bf16, pinned");
  EXPECT_EQ(runs[1].line.value, 900);
  EXPECT_TRUE(runs[1].finished);
  EXPECT_EQ(runs[2].kind, "tune");
  ASSERT_EQ(store_.list_runs(10, "bench")->size(), 1U);
  EXPECT_EQ(store_.list_runs(10, "bench")->front().id, "20261121-090000-bbbb");
}

TEST_F(RunTableTest, shows_an_answer_that_cannot_be_read_as_it_is) {
  ASSERT_TRUE((*Connection::open(store_.path(), std::chrono::seconds(1)))
                  ->execute("UPDATE runs SET answer = '{\"code\": 3}' WHERE id = '20261121-100000-cccc'"));
  EXPECT_EQ(fakes::text_of(store_.list_runs(10)->front().line.answer), "{\"code\": 3}");
}

TEST_F(RunTableTest, gives_back_what_a_kind_saved) {
  const auto bench = make_bench("20261121-090000-bbbb", "2026-11-21T09:00:00Z");
  EXPECT_EQ(base::Json(*store_.load<schema::BenchRun>("20261121-09")).dump(), base::Json(bench).dump());
  const auto sweep = make_sweep("20261121-100000-cccc", "2026-11-21T10:00:00Z");
  EXPECT_EQ(base::Json(*store_.load<schema::SweepRun>("20261121-10")).dump(), base::Json(sweep).dump());
}

TEST_F(RunTableTest, the_envelope_names_what_every_kind_has) {
  const auto run = *store_.load_run("20261121-09");
  EXPECT_EQ(run.kind, "bench");
  ASSERT_EQ(run.trials.size(), 1U);
  EXPECT_EQ(run.trials[0].key, "k");
  EXPECT_EQ(run.trials[0].stage, "compute");
  EXPECT_EQ(run.trials[0].settings["batch"], 64);
  EXPECT_EQ(run.trials[0].details["data"], "device");
  EXPECT_EQ(run.notes.at(0).arguments().at("words"), "a note");
  EXPECT_EQ(run.answer["recommended"]["samples_per_s"], 900);
  EXPECT_EQ(run.environments.size(), 1U);
}

TEST_F(RunTableTest, latest_is_the_newest_of_all_or_of_a_kind) {
  EXPECT_EQ(store_.load_run("latest")->id, "20261121-100000-cccc");
  EXPECT_EQ(store_.load_run("latest:tune")->id, "20261121-080000-aaaa");
  EXPECT_EQ(store_.load<schema::BenchRun>("latest")->id, "20261121-090000-bbbb");
  const auto none = store_.load_run("latest:stream");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, base::ErrorCode::not_found);
  EXPECT_NE(none.error().message.find("no runs of ridgeline stream yet"), std::string::npos) << none.error().message;
}

TEST_F(RunTableTest, a_run_of_another_kind_is_named) {
  const auto other = store_.load<schema::TuneRun>("20261121-09");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, base::ErrorCode::invalid_argument);
  EXPECT_NE(other.error().message.find("is one of ridgeline bench, expected one of ridgeline tune"), std::string::npos)
      << other.error().message;
  EXPECT_EQ(store_.load<schema::TuneRun>("20261121")->id, "20261121-080000-aaaa") << "the only one that can be meant";
  EXPECT_FALSE(store_.load_run("20261121"));
}

TEST_F(RunTableTest, trials_of_all_kinds_are_found_by_their_key) {
  schema::SweepOutcome outcome;
  outcome.metrics = {{"seconds", 1.5}};
  EXPECT_FALSE(*store_.find_outcome<schema::SweepOutcome>("c"));
  ASSERT_TRUE(store_.save_outcome(kCommandKind, "c", {{"command", {"x"}}}, outcome));
  outcome.metrics["seconds"] = 2.5;
  ASSERT_TRUE(store_.save_outcome(kCommandKind, "c", {{"command", {"x"}}}, outcome));
  EXPECT_EQ((*store_.find_outcome<schema::SweepOutcome>("c"))->metrics.at("seconds"), 2.5);
  EXPECT_EQ((*store_.find_record("c"))->spec["command"][0], "x");
  EXPECT_EQ((*store_.find_record("c"))->kind, "command");
  EXPECT_EQ(count_trials(store_), 0U) << "of tune";
}

}  // namespace
}  // namespace ridgeline::store
