// SPDX-License-Identifier: Apache-2.0
// Runs that nobody limits: on a GPU they have an answer in five minutes, an early one before that, and a forecast.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "campaign/messages.hpp"
#include "campaign/tune/tune_campaign.hpp"
#include "fakes/fake_gpu_pool.hpp"
#include "fakes/gpu_pool_request.hpp"
#include "fakes/temporary_folder.hpp"
#include "fakes/words.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;

constexpr double kUsualLimitS = 300;
constexpr double kSessionShare = 0.8;

/// Counts the forecasts that are said.
class ForecastObserver final : public CampaignObserver {
 public:
  std::vector<RunForecast> said;
  void forecast_changed(const RunForecast& forecast) override {
    if (forecast.is_news) said.push_back(forecast);
  }
};

class UsualLimitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    request_ = fakes::gpu_pool_request(folder_.path(), 1,
                                       {{"cudnn_conv_algo_search", {"HEURISTIC", "DEFAULT"}},
                                        {"enable_cuda_graph", {true, false}},
                                        {"io_binding", {"device", "stream"}},
                                        {"prefer_nhwc", {true, false}},
                                        {"graph_optimization_level", {"basic", "extended"}},
                                        {"fuse_conv_bias", {true, false}}});
    request_.search = "adaptive";
    request_.leave_one_out = true;
  }

  /// Trials of `trial_s`, nearly all of it for the session; comparisons of the same sessions and blocks of up to
  /// `pair_s`; interrupted after `interrupted_s`.
  TuneResult run(double trial_s, double pair_s = 4, double interrupted_s = 1e9) {
    const double begin_s = base::to_seconds(clock_.now());
    fakes::FakeGpuPool pool(clock_, 1);
    pool.simple.cost_ns = cost_ns_;
    pool.trial_s = [=](const Configuration&) { return trial_s; };
    pool.simple.setup_s = [=](const Configuration&) { return kSessionShare * trial_s; };
    pool.pair_s = [=](const schema::PairedSpec& spec, double) {
      return 2 * spec.plan.rounds * kSessionShare * trial_s + std::min(pair_s, spec.plan.max_time_s);
    };
    auto store = store::Store::open(folder_ / fmt::format("{}.db", ++runs_));
    EXPECT_TRUE(store);
    auto result = TuneCampaign(pool, *store, clock_, observer_, [&] {
                    return base::to_seconds(clock_.now()) - begin_s > interrupted_s;
                  }).run(request_);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? std::move(*result) : TuneResult{};
  }

  static bool has_note(const schema::TuneRun& run, std::string_view code) {
    return std::any_of(run.notes.begin(), run.notes.end(), [&](const auto& note) { return note.is(code); });
  }

  fakes::TemporaryFolder folder_;
  fakes::FakeClock clock_;
  TuneRequest request_;
  ForecastObserver observer_;
  std::function<double(const Configuration&)> cost_ns_ = [](const Configuration& c) {
    return 1e6 * (c.get_or("enable_cuda_graph", false) == schema::Value(true) ? 1.0 : 2.0) *
           (c.get_or("prefer_nhwc", false) == schema::Value(true) ? 0.7 : 1.0);
  };
  int runs_ = 0;
};

TEST_F(UsualLimitTest, on_a_gpu_the_answer_is_there_after_five_minutes) {
  for (const double trial_s : {5.0, 20.0, 60.0}) {
    const auto run = this->run(trial_s).run;
    EXPECT_LE(run.duration_s, kUsualLimitS) << trial_s;
    ASSERT_TRUE(run.verdict) << trial_s;
    EXPECT_EQ(run.verdict->decision, schema::Decision::change)
        << trial_s << ": " << fakes::text_of(run.verdict->reason);
    EXPECT_TRUE(has_note(run, "campaign.limited_by_default"));
  }
}

TEST_F(UsualLimitTest, the_first_trial_may_take_as_long_as_it_takes) {
  const auto run = this->run(400).run;
  ASSERT_EQ(run.trials.size(), 1U);
  EXPECT_GT(run.duration_s, kUsualLimitS);
}

TEST_F(UsualLimitTest, who_asks_for_a_number_of_trials_gets_them) {
  request_.search = "random";
  request_.random_budget = 30;
  const auto run = this->run(20).run;
  EXPECT_GT(run.duration_s, kUsualLimitS);
  EXPECT_FALSE(has_note(run, "campaign.limited_by_default"));
}

TEST_F(UsualLimitTest, an_interrupted_run_keeps_its_first_answer) {
  const auto run = this->run(8, 4, 150).run;
  EXPECT_TRUE(run.interrupted);
  EXPECT_TRUE(has_note(run, "campaign.first_answer"));
  ASSERT_TRUE(run.verdict);
  EXPECT_EQ(run.verdict->decision, schema::Decision::change);
  EXPECT_TRUE(run.verdict->reason.is("campaign.first_answer_stands"));
  ASSERT_TRUE(run.verdict->gain);
  EXPECT_GT(run.verdict->gain->low, 1.02);
  EXPECT_TRUE(std::any_of(run.trials.begin(), run.trials.end(), [&](const auto& trial) {
    return trial.id == run.verdict->trial_id && trial.configuration == run.verdict->configuration;
  }));
}

TEST_F(UsualLimitTest, where_nothing_is_faster_there_is_no_first_answer) {
  cost_ns_ = [](const Configuration&) { return 1e6; };
  const auto interrupted = run(8, 4, 150).run;
  EXPECT_FALSE(has_note(interrupted, "campaign.first_answer"));
  ASSERT_TRUE(interrupted.verdict);
  EXPECT_EQ(interrupted.verdict->decision, schema::Decision::none);
}

TEST_F(UsualLimitTest, the_final_comparison_takes_the_place_of_the_first) {
  const auto run = this->run(8).run;
  EXPECT_TRUE(has_note(run, "campaign.first_answer"));
  ASSERT_TRUE(run.verdict);
  EXPECT_EQ(std::count_if(run.pairs.begin(), run.pairs.end(),
                          [&](const auto& pair) {
                            return pair.purpose == schema::PairPurpose::finalist &&
                                   pair.b == run.verdict->configuration;
                          }),
            1);
}

TEST_F(UsualLimitTest, the_forecast_after_the_first_trials_is_right_within_a_factor_of_1_5) {
  for (const double trial_s : {2.0, 5.0, 12.0, 30.0})
    for (const double pair_s : {4.0, 8.0}) {
      observer_.said.clear();
      const auto run = this->run(trial_s, pair_s).run;
      ASSERT_TRUE(run.time_spent && run.time_spent->forecast_s) << trial_s;
      ASSERT_FALSE(observer_.said.empty());
      EXPECT_EQ(observer_.said.front().all_s, *run.time_spent->forecast_s);
      const double ratio = run.duration_s / *run.time_spent->forecast_s;
      EXPECT_LT(std::abs(std::log(ratio)), std::log(1.5))
          << run.duration_s << " s in place of " << *run.time_spent->forecast_s << " with trials of " << trial_s
          << " s and comparisons of " << pair_s << " s";
    }
}

}  // namespace
}  // namespace ridgeline::campaign
