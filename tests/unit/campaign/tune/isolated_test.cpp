// SPDX-License-Identifier: Apache-2.0
// What the recommended settings take as the only session of a process.
#include <algorithm>
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "campaign/tune/tune_campaign.hpp"
#include "fakes/fake_gpu_pool.hpp"
#include "fakes/gpu_pool_request.hpp"
#include "fakes/stored_results.hpp"
#include "fakes/temporary_folder.hpp"

namespace ridgeline::campaign {
namespace {

class IsolatedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    request_ = fakes::gpu_pool_request(folder_.path(), 1, {{"enable_cuda_graph", {true}}, {"io_binding", {"stream"}}});
    pool_.simple.cost_ns = [](const auto& c) { return c.find("enable_cuda_graph") != nullptr ? 1e6 : 2e6; };
    pool_.simple.isolated_pace = 0.9;
    pool_.start_s = 1.5;
  }
  TuneResult run() { return fakes::tuned(pool_, clock_, folder_ / "r.db", request_); }
  static std::string key_of(const TuneResult& result) {
    return result.run.verdict ? result.run.verdict->isolated_key : "";
  }

  /// Of the reference, beside its trial.
  static std::size_t readings_of(const TuneResult& result) {
    return result.run.speed ? result.run.speed->tracks.front().readings.size() - 1 : 0;
  }

  fakes::TemporaryFolder folder_;
  fakes::FakeClock clock_;
  fakes::FakeGpuPool pool_{clock_, 1};
  TuneRequest request_;
};

TEST_F(IsolatedTest, it_is_measured_once_and_kept_apart_from_the_trials) {
  const auto result = run();
  const auto key = key_of(result);
  ASSERT_NE(key, "");
  EXPECT_EQ(static_cast<std::size_t>(pool_.simple.trials_run), result.run.trials.size() + readings_of(result) + 2)
      << "the current ones too";
  EXPECT_NEAR(analysis::summarize(*result.outcomes.at(result.run.verdict->isolated_current_key).measurement).median_ns,
              1.8e6, 0.04e6);
  EXPECT_TRUE(std::none_of(result.run.trials.begin(), result.run.trials.end(),
                           [&](const auto& trial) { return trial.key == key; }));
  EXPECT_NEAR(analysis::summarize(*result.outcomes.at(key).measurement).median_ns, 0.9e6, 0.02e6);
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::change);

  const int trials = pool_.simple.trials_run;
  EXPECT_EQ(key_of(run()), key);
  EXPECT_EQ(pool_.simple.trials_run, trials) << "the store answers";
  auto store = store::Store::open(folder_ / "r.db");
  ASSERT_TRUE(store);
  const auto shown = load_stored(*store, result.run.id);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->outcomes.count(key), 1U) << "a report of the stored run has it too";
}

TEST_F(IsolatedTest, it_is_timed_for_as_long_as_the_energy_counter_needs_when_there_is_time) {
  const auto key_timed_for = [](const TuneResult& result, double least_s) {
    const auto& run = result.run;
    schema::TrialSpec spec{run.workload, run.provider,        run.device, run.runtime, run.verdict->configuration,
                           run.plan,     run.tensor_location, true};
    spec.plan.min_time_s = std::max(spec.plan.min_time_s, least_s);
    return spec.key();
  };
  const auto enough = run();
  EXPECT_EQ(key_of(enough), key_timed_for(enough, 1.2));
  request_.use_store = false;
  request_.max_time =
      std::chrono::milliseconds(5500);  // two trials, and 3.5 s for one alone with what it needs besides
  const auto scarce = run();
  EXPECT_EQ(key_of(scarce), key_timed_for(scarce, 0));
  EXPECT_EQ(scarce.run.verdict->isolated_current_key, "");
  pool_.trial_s = [](const auto&) { return 14.0; };  // no user asked for it to go on beyond half a minute
  request_.max_time.reset();
  const auto slow = run();
  EXPECT_EQ(key_of(slow), key_timed_for(slow, 0));
  EXPECT_EQ(slow.run.verdict->isolated_current_key, "");
}

TEST_F(IsolatedTest, a_limit_of_energy_makes_every_trial_long_enough_for_the_counter) {
  EXPECT_LT(run().run.plan.min_time_s, 1);
  request_.constraints = {{"gpu_energy_mj_per_item", true, 100}};
  EXPECT_GE(run().run.plan.min_time_s, 1);
}

TEST_F(IsolatedTest, libraries_are_listed_as_the_first_inference_left_them) {
  pool_.simple.loaded_by_trials = {"/x/libcudnn_engines_precompiled.so.9 (9.19.0)"};
  EXPECT_EQ(run().run.runtime.loaded_libraries, pool_.simple.loaded_by_trials);
}

TEST_F(IsolatedTest, several_sessions_are_not_alone) {
  request_.space.fixed.set("parallel_sessions", 2);
  EXPECT_EQ(key_of(run()), "");
}

TEST_F(IsolatedTest, a_quick_search_has_no_time_for_it) {
  request_.search = "quick";
  EXPECT_EQ(key_of(run()), "");
}

TEST_F(IsolatedTest, nor_has_one_whose_time_is_up) {
  const double needed_s = run().run.duration_s;
  EXPECT_GT(needed_s, 4) << "two trials of a second, and one with a process";
  request_.use_store = false;
  pool_.pair_s = [](const auto&, double) { return 1.0; };
  for (const double budget_s : {3.5, 5.0, 10.0}) {
    request_.max_time = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(budget_s));
    const auto result = run();
    EXPECT_LE(result.run.duration_s, budget_s);
    EXPECT_EQ(key_of(result) != "", budget_s > 7) << budget_s;
  }
}

TEST_F(IsolatedTest, the_answer_stands_when_it_fails) {
  const auto whole = run();
  const int trials = static_cast<int>(whole.run.trials.size() + readings_of(whole));
  request_.use_store = false;
  pool_.simple.trials_run = pool_.simple.pairs_run = 0;
  pool_.simple.interrupt = [&] { return pool_.simple.pairs_run > 0 && pool_.simple.trials_run == trials; };
  const auto result = run();
  ASSERT_TRUE(result.run.verdict);
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::change);
  EXPECT_EQ(key_of(result), "");
}

}  // namespace
}  // namespace ridgeline::campaign
