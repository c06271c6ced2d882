// SPDX-License-Identifier: Apache-2.0
#include "analysis/device_learning.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "analysis/comparison.hpp"
#include "fakes/tune_run_fixture.hpp"
#include "fakes/uneven_sessions.hpp"
#include "stats/shrinkage.hpp"

namespace ridgeline::analysis {
namespace {

using schema::Configuration;

/// Comparisons of six rounds on a device whose sessions differ by `stdev`.
schema::DeviceLearning after_comparisons(int count, double stdev) {
  fakes::TuneRecords records;
  for (int at = 0; at < count; ++at) {
    schema::TunedPair pair;
    pair.key = fmt::format("pair-{}", at);
    records.run.pairs.push_back(pair);
    records.pairs[pair.key].measurement =
        fakes::with_turns(static_cast<std::uint64_t>(at) + 1, 6, 0.02, std::sqrt(2.0) * stdev);
  }
  return learned_from(records.run, records.outcomes, records.pairs);
}

TEST(DeviceLearning, without_data_what_other_devices_taught_stands_exactly) {
  EXPECT_EQ(session_stdev({}), kGpuSessionStdev);
  EXPECT_EQ(stats::shrunk(0.3, 4, 17, 0), 0.3);
  EXPECT_EQ(stats::shrunk(1, 1, 3, 3), 2.5);
}

TEST(DeviceLearning, much_data_replaces_the_prior_and_little_moves_it) {
  for (const double stdev : {0.005, 0.04}) {
    EXPECT_NEAR(session_stdev(after_comparisons(200, stdev)) / stdev, 1, 0.1);
    const double first = session_stdev(after_comparisons(1, stdev));
    EXPECT_GT(std::abs(std::log(first / stdev)),
              std::abs(std::log(session_stdev(after_comparisons(20, stdev)) / stdev)));
  }
}

TEST(DeviceLearning, sessions_that_do_not_differ_leave_a_spread_above_zero) {
  const auto learned = after_comparisons(50, 0);
  EXPECT_LT(learned.session_variance, 1e-5);
  EXPECT_GT(session_stdev(learned), 0);
  EXPECT_LT(session_stdev(learned), kGpuSessionStdev);
}

TEST(DeviceLearning, rounds_too_few_to_tell_teach_nothing) {
  EXPECT_FALSE(session_scatter(fakes::with_turns(1, 3, 0.02, 0.02), schema::Objective::latency));
  EXPECT_TRUE(session_scatter(fakes::with_turns(1, 4, 0.02, 0.02), schema::Objective::p99));
}

class RunOfTrials : public testing::Test {
 protected:
  void add(const Configuration& configuration, double median_ms, bool cached = false) {
    auto& trial = records_.run.trials.emplace_back();
    trial.id = static_cast<int>(records_.run.trials.size());
    trial.key = fmt::format("key-{}", trial.id);
    trial.configuration = configuration;
    trial.cached = cached;
    records_.outcomes[trial.key].measurement =
        fakes::fake_measurement(static_cast<std::uint64_t>(trial.id), median_ms, 400);
  }
  [[nodiscard]] schema::DeviceLearning learned() const {
    return learned_from(records_.run, records_.outcomes, records_.pairs);
  }
  fakes::TuneRecords records_;
};

TEST_F(RunOfTrials, teach_what_each_setting_does_once_a_run) {
  add({}, 10);
  add({{"prefer_nhwc", true}}, 5);
  add({{"intra_op_num_threads", 1}}, 11);
  add({{"prefer_nhwc", true}, {"intra_op_num_threads", 1}}, 5.5);
  add({{"enable_mem_pattern", false}}, 3, true);
  const auto effects = learned().effects;
  ASSERT_EQ(effects.size(), 2U) << "what the store answered was learned before";
  EXPECT_NEAR(effects.at("prefer_nhwc").mean, std::log(2), 0.02);
  EXPECT_NEAR(effects.at("intra_op_num_threads").mean, std::log(1.1), 0.02);
  EXPECT_EQ(effects.at("prefer_nhwc").runs, 1) << "two trials of one model are no two models";
}

TEST_F(RunOfTrials, teach_nothing_where_trials_differ_in_two_settings_or_failed) {
  add({}, 10);
  add({{"prefer_nhwc", true}, {"intra_op_num_threads", 1}}, 5);
  add({{"enable_mem_pattern", false}}, 5);
  records_.outcomes["key-3"].status = schema::TrialStatus::failed;
  records_.outcomes["key-3"].measurement.reset();
  EXPECT_TRUE(learned().empty());
}

TEST(DeviceLearning, of_several_runs_weighs_by_what_each_showed) {
  schema::DeviceLearning all{4e-4, 10, {{"prefer_nhwc", {0.1, 1}}}};
  all.add({1e-4, 30, {{"prefer_nhwc", {0.4, 2}}, {"io_binding", {0.2, 1}}}});
  EXPECT_DOUBLE_EQ(all.session_variance, 1.75e-4);
  EXPECT_DOUBLE_EQ(all.session_freedom, 40);
  EXPECT_DOUBLE_EQ(all.effects["prefer_nhwc"].mean, 0.3);
  EXPECT_DOUBLE_EQ(all.effects["io_binding"].mean, 0.2);
  all.add({});
  EXPECT_DOUBLE_EQ(all.session_freedom, 40);
  EXPECT_EQ(base::dump_json(base::Json(all).get<schema::DeviceLearning>()), base::dump_json(all));
}

}  // namespace
}  // namespace ridgeline::analysis
