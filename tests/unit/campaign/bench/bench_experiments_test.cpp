// SPDX-License-Identifier: Apache-2.0
// What experiments of a run may say.
#include <algorithm>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "report/bench_report.hpp"
#include "report/renderers.hpp"
#include "schema/messages.hpp"
#include "unit/campaign/bench/bench_campaign_fixture.hpp"

namespace ridgeline::campaign {
namespace {

using schema::AmpMode;
using schema::DataMode;

using BenchExperimentsTest = BenchCampaignTest;

// A trial on a CPU that others kept busy was half as fast as those after it, and mixed precision got the credit.
TEST_F(BenchExperimentsTest, a_base_that_something_disturbed_gives_no_experiment_the_credit) {
  auto one = request("noise=0.01,amp_gain=1.0,compute_us=300,decode_us=50", "grid");
  one.space = {{512}, {8}, {AmpMode::off}, {true}};
  executor_.disturbed = 0;
  const auto bench = run(one);
  ASSERT_TRUE(bench);
  ASSERT_EQ(bench->findings.size(), 1U) << fakes::text_of(bench->findings.front().title);
  EXPECT_EQ(bench->findings.front().code, "gpu_bound") << fakes::text_of(bench->findings.front().evidence);
  const auto again = std::count_if(bench->trials.begin(), bench->trials.end(), [&](const auto& trial) {
    return trial.settings == bench->trials.front().settings && trial.data == DataMode::loader;
  });
  EXPECT_EQ(again, 3) << "the second does not agree, so that a third is asked";
}

// 4 ms of sleep a sample: the answer was "there are no CPUs for more workers".
TEST_F(BenchExperimentsTest, workers_that_wait_are_tried_beyond_the_cpus) {
  auto waits = request("noise=0,read_us=4000,decode_us=20,compute_us=5,amp_gain=1,over=0", "grid");
  waits.space = {{64}, {0, 1, 2}, {AmpMode::off}, {true}};
  waits.cores = 2;
  waits.own_workers = true;
  const auto bench = run(waits);
  ASSERT_TRUE(bench && bench->answers && bench->answers->fastest);
  EXPECT_GE(bench->answers->fastest->settings.workers, 16);
  EXPECT_TRUE(noted(*bench, "so more of them than the 2 CPUs were tried: up to ")) << listed(*bench);
  // Somebody's own list is kept to, and the finding says what lies beyond it.
  waits.own_workers = false;
  const auto listed_only = run(waits);
  ASSERT_TRUE(listed_only && listed_only->answers && listed_only->answers->fastest);
  EXPECT_EQ(listed_only->answers->fastest->settings.workers, 2);
  ASSERT_FALSE(listed_only->findings.empty());
  EXPECT_EQ(listed_only->findings.front().code, "too_few_workers");
  EXPECT_EQ(fakes::text_of(listed_only->findings.front().advice), "num_workers: 64")
      << fakes::text_of(listed_only->findings.front().evidence);
  // Workers that compute have no use for that.
  waits.job.target = "noise=0,read_us=20,decode_us=4000,compute_us=5,amp_gain=1,over=0,cores=2";
  waits.own_workers = true;
  const auto computes = run(waits);
  ASSERT_TRUE(computes && computes->answers && computes->answers->fastest);
  EXPECT_LE(computes->answers->fastest->settings.workers, 2);
  EXPECT_FALSE(noted(*computes, "more of them than")) << listed(*computes);
}

TEST_F(BenchExperimentsTest, experiments_that_the_time_left_out_are_named) {
  auto limited = request("noise=0.01,read_us=4000,decode_us=20", "grid");
  limited.space = {{64}, {2}, {AmpMode::off}, {true}};
  limited.max_time = std::chrono::seconds(4);
  limited.explain_loader = [](const auto&, double) { return std::vector{schema::messages::foreign("asked")}; };
  const auto bench = run(limited);
  ASSERT_TRUE(bench);
  EXPECT_TRUE(noted(*bench, "(--max-time was used up)")) << listed(*bench);
  EXPECT_TRUE(noted(*bench, "not tried under batch 64, 2 workers")) << listed(*bench);
  EXPECT_TRUE(noted(*bench, "the time of the data set's transforms was not measured: --max-time was used up"))
      << listed(*bench);
  limited.max_time = std::chrono::seconds(600);
  const auto whole = run(limited);
  ASSERT_TRUE(whole);
  EXPECT_TRUE(noted(*whole, "asked")) << listed(*whole);
  EXPECT_FALSE(noted(*whole, "not tried")) << listed(*whole);
}

TEST_F(BenchExperimentsTest, a_step_that_sleeps_is_not_called_computing) {
  auto sleeps = request("noise=0,wait_ms=20,decode_us=1,read_us=1,fill=0,compute_us=40,sample_kb=1", "grid");
  sleeps.space = {{8192}, {8}, {AmpMode::bf16}, {true}};
  sleeps.job.target += ",memory_gb=1000";
  sleeps.device = "cpu";
  const auto computes = run(sleeps);
  ASSERT_TRUE(computes && !computes->findings.empty());
  EXPECT_EQ(computes->findings.front().code, "cpu_bound") << fakes::text_of(computes->findings.front().evidence);
  sleeps.job.target = "noise=0,wait_ms=2000,decode_us=1,read_us=1,fill=0,compute_us=40,sample_kb=1,memory_gb=115";
  const auto waits = run(sleeps);
  ASSERT_TRUE(waits && !waits->findings.empty());
  EXPECT_EQ(waits->findings.front().code, "step_waits") << fakes::text_of(waits->findings.front().evidence);
}

}  // namespace
}  // namespace ridgeline::campaign
