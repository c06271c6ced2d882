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

}  // namespace
}  // namespace ridgeline::campaign
