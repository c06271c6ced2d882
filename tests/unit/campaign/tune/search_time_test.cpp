// SPDX-License-Identifier: Apache-2.0
// What a search does with the time that --max-time leaves it.
#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include "campaign/tune/tune_campaign.hpp"
#include "fakes/fake_gpu_pool.hpp"
#include "fakes/gpu_pool_request.hpp"
#include "fakes/temporary_folder.hpp"
#include "fakes/words.hpp"
#include "report/renderers.hpp"
#include "report/tune_report.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;

class SearchTimeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    request_ = fakes::gpu_pool_request(
        folder_.path(), 1, {{"parallel_sessions", {16}}, {"intra_op_num_threads", {1}}, {"prefer_nhwc", {true}}});
    request_.objective = schema::Objective::throughput;
  }

  schema::TuneRun run() {
    fakes::FakeGpuPool pool(clock_, 1);
    pool.simple.setup_s = [](const Configuration&) { return 0.8; };
    return fakes::tuned(pool, clock_, folder_ / "results.db", request_).run;
  }

  static bool tried(const schema::TuneRun& run, const Configuration& configuration) {
    return std::any_of(run.trials.begin(), run.trials.end(),
                       [&](const auto& trial) { return trial.configuration == configuration; });
  }

  fakes::TemporaryFolder folder_;
  fakes::FakeClock clock_;
  TuneRequest request_;
};

const Configuration kMany{{"parallel_sessions", 16}};
const Configuration kOneThread{{"intra_op_num_threads", 1}};

TEST_F(SearchTimeTest, sessions_that_there_is_no_time_for_do_not_end_the_search) {
  request_.max_time = std::chrono::seconds(20);
  const auto found = run();
  EXPECT_FALSE(tried(found, kMany)) << "sixteen seconds, and as long again to compare";
  EXPECT_TRUE(tried(found, kOneThread));
  const auto left_out = std::find_if(found.pruned.begin(), found.pruned.end(), [](const auto& entry) {
    return entry.key == "parallel_sessions" && entry.values == std::vector<schema::Value>{16};
  });
  ASSERT_NE(left_out, found.pruned.end());
  EXPECT_NE(fakes::text_of(left_out->reason).find("--max-time"), std::string::npos);
}

TEST_F(SearchTimeTest, sessions_that_are_in_use_now_are_never_left_out) {
  request_.max_time = std::chrono::seconds(20);
  request_.current = kMany;
  const auto found = run();
  EXPECT_TRUE(tried(found, kMany));
}

TEST_F(SearchTimeTest, with_more_time_they_are_tried) {
  request_.max_time = std::chrono::seconds(600);
  const auto found = run();
  EXPECT_TRUE(tried(found, kMany));
  EXPECT_TRUE(tried(found, kOneThread));
  EXPECT_TRUE(
      std::none_of(found.pruned.begin(), found.pruned.end(), [](const auto& entry) { return !entry.values.empty(); }));
}

// The time is up while what usually is the fastest is still being compiled.
TEST_F(SearchTimeTest, the_verdict_names_what_was_still_being_made) {
  fakes::ask_pytorch(request_);
  request_.objective = schema::Objective::latency;
  request_.max_time = std::chrono::seconds(60);
  fakes::FakeGpuPool pool(clock_, 1);
  fakes::as_torch(pool.simple);
  const auto is_frozen = [](const Configuration& c) { return c.contains("compile_freezing"); };
  pool.ahead_s = [&](const Configuration& c) {
    return is_frozen(c) ? 200.0 : c.contains("torch_compile") ? 15.0 : 4.0;
  };
  pool.simple.cost_ns = [](const Configuration& c) { return c.contains("torch_compile") ? 1e6 : 2e6; };
  const auto result = fakes::tuned(pool, clock_, folder_ / "results.db", request_);
  const auto& run = result.run;
  EXPECT_LE(run.duration_s, 60);
  ASSERT_TRUE(run.verdict);
  EXPECT_EQ(run.verdict->decision, schema::Decision::change);
  ASSERT_FALSE(run.untried.empty());
  for (const auto& entry : run.untried) {
    EXPECT_TRUE(is_frozen(entry.configuration)) << entry.configuration.to_text();
    EXPECT_FALSE(tried(run, entry.configuration));
  }
  ASSERT_TRUE(run.untried.front().made_for_s);
  EXPECT_GT(*run.untried.front().made_for_s, 20);
  const auto report =
      report::render_markdown(report::build_tune_report(fakes::words(), run, result.outcomes, result.pairs));
  EXPECT_NE(report.find("Not measured because the time was up"), std::string::npos);
  EXPECT_NE(report.find("compile_freezing=true"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::campaign
