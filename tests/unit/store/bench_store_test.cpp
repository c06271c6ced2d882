// SPDX-License-Identifier: Apache-2.0
#include "store/bench_store.hpp"

#include <gtest/gtest.h>

#include "unit/workload/temp_folder.hpp"

namespace ridgeline::store {
namespace {

schema::TrainingTrialSpec spec() {
  schema::TrainingTrialSpec out;
  out.job.kind = "python";
  out.job.target = "train:bench";
  out.job.data_path = "/data/a.h5";
  out.settings = {128, 4, schema::AmpMode::bf16, true};
  return out;
}

TEST(BenchStore, gives_back_what_was_saved) {
  const workload::TempFolder folder;
  auto store = BenchStore::open(folder / "r.db");
  ASSERT_TRUE(store);
  EXPECT_FALSE(*store->find_trial(spec().key()));
  schema::TrainingOutcome outcome;
  outcome.status = schema::TrialStatus::out_of_memory;
  outcome.oom_evidence = schema::OomEvidence::allocator_counter;
  ASSERT_TRUE(store->save_trial(spec(), outcome));
  const auto found = store->find_trial(spec().key());
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->oom_evidence, schema::OomEvidence::allocator_counter);
}

TEST(BenchStore, the_key_is_the_question_and_not_its_paths) {
  auto moved = spec();
  moved.job.data_path = "/elsewhere/a.h5";
  moved.job.python = "/opt/python3";
  EXPECT_EQ(moved.key(), spec().key());
  auto other = spec();
  other.data = schema::DataMode::device;
  EXPECT_NE(other.key(), spec().key());
  other = spec();
  other.repeat = 1;
  EXPECT_NE(other.key(), spec().key());
  other = spec();
  other.job.target_sha256 = "changed";
  EXPECT_NE(other.key(), spec().key());
}

TEST(BenchStore, runs_are_found_by_prefix_or_as_the_latest) {
  const workload::TempFolder folder;
  auto store = BenchStore::open(folder / "r.db");
  ASSERT_TRUE(store);
  EXPECT_FALSE(store->load_run("latest"));
  schema::BenchRun run;
  for (const auto* id : {"20261121-100000-aaaa", "20261121-110000-bbbb"}) {
    run.id = id;
    run.started_utc = std::string(id).substr(0, 15);
    ASSERT_TRUE(store->save_run(run));
  }
  EXPECT_EQ(store->load_run("latest")->id, "20261121-110000-bbbb");
  EXPECT_EQ(store->load_run("20261121-10")->id, "20261121-100000-aaaa");
  EXPECT_EQ(store->load_run("2026").error().code, base::ErrorCode::invalid_argument);
  EXPECT_EQ(store->load_run("1999").error().code, base::ErrorCode::not_found);
  EXPECT_EQ(store->list_runs(10)->size(), 2U);
  EXPECT_EQ(store->list_runs(10)->front().id, "20261121-110000-bbbb");
}

TEST(BenchStore, shares_its_file_with_the_other_results) {
  const workload::TempFolder folder;
  ASSERT_TRUE(Store::open(folder / "r.db"));
  ASSERT_TRUE(BenchStore::open(folder / "r.db"));
  EXPECT_EQ(*Store::open(folder / "r.db")->count_trials(), 0U);
}

}  // namespace
}  // namespace ridgeline::store
