// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/stored_failure.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/fake_gpu_pool.hpp"
#include "fakes/gpu_pool_request.hpp"
#include "fakes/tune_campaign_fixture.hpp"
#include "fakes/words.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;
using schema::TrialStatus;

constexpr std::int64_t kGb = 1'000'000'000;

class StoredFailureTest : public fakes::TuneCampaignFixture {
 protected:
  void fail_all_but_the_defaults(TrialStatus status) {
    executor_.failure = [status](const Configuration& c) {
      return c.empty() ? std::nullopt : std::optional<TrialStatus>(status);
    };
  }
  static int failed(const TuneResult& result) {
    return static_cast<int>(std::count_if(result.run.trials.begin(), result.run.trials.end(), [&](const auto& trial) {
      return result.outcomes.at(trial.key).status != TrialStatus::ok;
    }));
  }
};

TEST_F(StoredFailureTest, what_died_or_hung_is_tried_again_by_a_new_run) {
  for (const auto status : {TrialStatus::crashed, TrialStatus::timeout}) {
    executor_.model.sha256 = base::enum_name(status);  // another question
    fail_all_but_the_defaults(status);
    const auto first = must_run();
    ASSERT_GT(failed(first), 0);
    const int trials = executor_.trials_run;
    executor_.failure = [](const auto&) { return std::nullopt; };
    EXPECT_EQ(failed(must_run()), 0);
    EXPECT_EQ(executor_.trials_run, trials + failed(first)) << base::enum_name(status);
    must_run();
    EXPECT_EQ(executor_.trials_run, trials + failed(first)) << "now it is known";
  }
}

TEST_F(StoredFailureTest, what_the_configuration_is_to_blame_for_is_not) {
  for (const auto status :
       {TrialStatus::failed, TrialStatus::unsupported, TrialStatus::invalid, TrialStatus::out_of_memory}) {
    executor_.model.sha256 = base::enum_name(status);  // another question
    fail_all_but_the_defaults(status);
    ASSERT_GT(failed(must_run()), 0);
    const int trials = executor_.trials_run;
    must_run();
    EXPECT_EQ(executor_.trials_run, trials) << base::enum_name(status);
  }
}

TEST_F(StoredFailureTest, a_run_that_goes_on_with_an_interrupted_one_keeps_its_crashes) {
  fail_all_but_the_defaults(TrialStatus::crashed);
  executor_.interrupt = [this] { return executor_.trials_run == 3; };
  const auto first = must_run();
  ASSERT_TRUE(first.run.interrupted);
  ASSERT_EQ(failed(first), 2);
  executor_.interrupt = [this] { return executor_.trials_run == 5; };
  ASSERT_TRUE(must_run().run.interrupted);
  executor_.interrupt = [] { return false; };
  const auto whole = must_run();
  EXPECT_EQ(executor_.trials_run, static_cast<int>(whole.run.trials.size())) << "each was made once";
  must_run();
  EXPECT_EQ(executor_.trials_run, static_cast<int>(whole.run.trials.size()) + failed(whole)) << "a new run";
}

TEST_F(StoredFailureTest, another_question_does_not_go_on_with_it) {
  const std::vector<std::function<void(TuneRequest&)>> others{
      [](auto& request) { request.seed = 2; }, [](auto& request) { request.space.exclude = {"inter_op_num_threads"}; },
      [](auto& request) { request.config_path = "/etc/service.yaml"; },
      [](auto& request) { request.accuracy_tolerance = 0.5; }};
  for (std::size_t i = 0; i < others.size(); ++i) {
    executor_.model.sha256 = fmt::format("model {}", i);
    fail_all_but_the_defaults(TrialStatus::crashed);
    const auto asked = request_;
    const int before = executor_.trials_run;
    executor_.interrupt = [&] { return executor_.trials_run == before + 3; };
    must_run();
    executor_.interrupt = [] { return false; };
    others[i](request_);
    const auto other = must_run();
    EXPECT_EQ(executor_.trials_run - before, static_cast<int>(other.run.trials.size()) + 2) << i;
    request_ = asked;
  }
}

TEST_F(StoredFailureTest, other_words_for_the_same_question_do) {
  fail_all_but_the_defaults(TrialStatus::crashed);
  executor_.interrupt = [this] { return executor_.trials_run == 3; };
  must_run();
  executor_.interrupt = [] { return false; };
  request_.arguments = {"ridgeline", "tune", "./model.onnx", "--output", "r.md", "--max-time", "1h"};
  request_.workload.location = "./model.onnx";
  request_.outputs = {"r.md"};
  request_.max_time = std::chrono::hours(1);
  const auto whole = must_run();
  EXPECT_EQ(executor_.trials_run, static_cast<int>(whole.run.trials.size())) << "each was made once";
}

TEST_F(StoredFailureTest, a_batch_that_had_no_memory_is_tried_again_once_there_is_more) {
  fakes::FakeClock clock;
  fakes::FakeGpuPool pool(clock, 1);
  auto request = fakes::gpu_pool_request(
      folder_, 1, {schema::Dimension{"prefer_nhwc", {true}}, schema::Dimension{"use_tf32", {false}}});
  pool.simple.failure = [](const Configuration& c) {
    return c.contains("use_tf32") ? std::optional(TrialStatus::out_of_memory) : std::nullopt;
  };
  auto& gpu = request.environment->gpus.front();
  const auto cached = [&](std::int64_t free_bytes) {
    gpu.memory_free_bytes = free_bytes;
    pool.simple.failure_gpu.emplace().memory_free_before_bytes = free_bytes;
    const auto result = fakes::tuned(pool, clock, folder_ / "gpu.db", request);
    std::vector<bool> found;
    for (const auto& trial : result.run.trials)
      if (trial.configuration.contains("use_tf32")) found.push_back(trial.cached);
    return found;
  };
  EXPECT_EQ(cached(10 * kGb), std::vector<bool>(2, false));
  EXPECT_EQ(cached(10 * kGb), std::vector<bool>(2, true)) << "as much is free";
  EXPECT_EQ(cached(140 * kGb), std::vector<bool>(2, false)) << "somebody has left";
  EXPECT_EQ(cached(10 * kGb), std::vector<bool>(2, true)) << "there is less than in vain";
}

class FailsAgain : public ::testing::Test {
 protected:
  FailsAgain() {
    stored_.spec.provider = "cuda";
    stored_.spec.device = "gpu:GPU-1";
    stored_.outcome.status = TrialStatus::out_of_memory;
    stored_.outcome.failure.emplace().gpu.emplace().memory_free_before_bytes = 10 * kGb;
    environment_.gpus.resize(1);
    environment_.gpus[0].uuid = "GPU-1";
    environment_.gpus[0].memory_free_bytes = 10 * kGb;
  }
  bool again() const { return fails_again(stored_, environment_); }

  store::StoredTrial stored_;
  schema::Environment environment_;
};

TEST_F(FailsAgain, where_a_workers_context_is_all_that_more_is_free) {
  EXPECT_TRUE(again());
  *environment_.gpus[0].memory_free_bytes += 600'000'000;
  EXPECT_TRUE(again());
  *environment_.gpus[0].memory_free_bytes += kGb;
  EXPECT_FALSE(again());
}

TEST_F(FailsAgain, not_where_memory_cannot_be_compared) {
  environment_.gpus[0].memory_free_bytes.reset();
  EXPECT_FALSE(again());
  environment_.gpus[0].memory_free_bytes = kGb;
  environment_.gpus[0].uuid = "GPU-2";
  EXPECT_FALSE(again());
  environment_.gpus[0].uuid = "GPU-1";
  EXPECT_TRUE(again());
  stored_.outcome.failure->gpu.reset();
  EXPECT_FALSE(again());
  stored_.spec.provider = "cpu";
  EXPECT_TRUE(again());
}

TEST_F(FailsAgain, not_where_the_cards_state_was_to_blame) {
  stored_.outcome.status = TrialStatus::failed;
  stored_.outcome.failure->message = fakes::legacy("onnxruntime: no kernel image is available");
  EXPECT_TRUE(again());
  stored_.outcome.failure->message =
      fakes::legacy("CUDA failure 46: CUDA-capable device(s) is/are busy or unavailable ; GPU=0");
  EXPECT_FALSE(again());
}

}  // namespace
}  // namespace ridgeline::campaign
