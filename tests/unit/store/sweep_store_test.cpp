// SPDX-License-Identifier: Apache-2.0
#include "store/sweep_store.hpp"

#include <gtest/gtest.h>

#include "fakes/temporary_folder.hpp"
#include "store/bench_store.hpp"

namespace ridgeline::store {
namespace {

TEST(SweepStore, gives_back_what_was_saved) {
  const fakes::TemporaryFolder folder;
  auto store = SweepStore::open(folder / "r.db");
  ASSERT_TRUE(store);
  schema::SweepTrialSpec spec;
  spec.job.command = {"x", "{n}"};
  spec.point = {{"n", "1"}};
  EXPECT_FALSE(*store->find_trial(spec.key()));
  schema::SweepOutcome outcome;
  outcome.metrics = {{"seconds", 1.5}};
  outcome.files = {{"/bin/x", "abc"}};
  ASSERT_TRUE(store->save_trial(spec, outcome));
  outcome.metrics["seconds"] = 2.5;
  ASSERT_TRUE(store->save_trial(spec, outcome));
  const auto found = store->find_trial(spec.key());
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->metrics.at("seconds"), 2.5);
  EXPECT_EQ((*found)->files.front().fingerprint, "abc");
}

TEST(SweepStore, runs_are_found_by_prefix_or_as_the_latest_and_listed) {
  const fakes::TemporaryFolder folder;
  auto store = SweepStore::open(folder / "r.db");
  ASSERT_TRUE(store);
  EXPECT_FALSE(store->load_run("latest"));
  schema::SweepRun run;
  run.job.command = {"train", "{n}"};
  run.job.parameters = {{"n", {"1", "2"}}};
  run.points = {schema::SweepSummary{}};
  run.points.front().point = {{"n", "2"}};
  run.points.front().objective.value = 7;
  run.answers = schema::SweepAnswers{};
  run.answers->recommended = {{"n", "2"}};
  for (const auto* id : {"20261121-100000-aaaa", "20261121-110000-bbbb"}) {
    run.id = id;
    run.started_utc = std::string(id).substr(0, 15);
    ASSERT_TRUE(store->save_run(run));
  }
  EXPECT_EQ(store->load_run("latest")->id, "20261121-110000-bbbb");
  EXPECT_EQ(store->load_run("20261121-10")->id, "20261121-100000-aaaa");
  EXPECT_EQ(store->load_run("2026").error().code, base::ErrorCode::invalid_argument);
  EXPECT_EQ(store->load_run("1999").error().code, base::ErrorCode::not_found);
  const auto list = store->list_runs(1);
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 1U);
  EXPECT_EQ(list->front().command, "train {n}");
  EXPECT_EQ(list->front().recommended, "n=2");
  EXPECT_EQ(list->front().value, 7);
}

TEST(SweepStore, shares_its_file_with_the_other_results) {
  const fakes::TemporaryFolder folder;
  ASSERT_TRUE(BenchStore::open(folder / "r.db"));
  ASSERT_TRUE(SweepStore::open(folder / "r.db"));
  EXPECT_EQ(BenchStore::open(folder / "r.db")->list_runs(5)->size(), 0U);
}

}  // namespace
}  // namespace ridgeline::store
