// SPDX-License-Identifier: Apache-2.0
// What a quick search does with settings that its short measurements cannot tell apart: it adds nothing that is not
// proven.
#include <algorithm>

#include <gtest/gtest.h>

#include "fakes/tune_campaign_fixture.hpp"
#include "fakes/words.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;

const Configuration kBoth{{"enable_mem_pattern", false}, {"intra_op_num_threads", 2}};
const Configuration kFewest{{"intra_op_num_threads", 2}};

/// Two threads are twice as fast as the current configuration, the defaults; enable_mem_pattern=false makes its trial
/// 0.5 % faster, and the comparison of the two decides nothing.
class QuickTiesTest : public fakes::TuneCampaignFixture {
 protected:
  void SetUp() override {
    TuneCampaignFixture::SetUp();
    executor_.cost_ns = [this](const Configuration& c) {
      const double threads = c.get_or("intra_op_num_threads", 0) == schema::Value(2) ? 1e6 : 2e6;
      return threads * (c.contains("enable_mem_pattern") ? trial_ratio_ : 1.0);
    };
    executor_.noise = 0.1;
    request_.paired.abba_rounds = 8;
    request_.leave_one_out = false;
    request_.finalists = 2;
  }
  TuneResult search(const std::string& strategy) {
    request_.search = strategy;
    request_.use_store = false;
    return must_run();
  }
  double trial_ratio_ = 0.995;
};

TEST_F(QuickTiesTest, the_one_with_the_fewest_settings_is_recommended) {
  const auto result = search("quick");
  ASSERT_EQ(result.run.verdict->decision, schema::Decision::change) << fakes::text_of(result.run.verdict->reason);
  const auto& tied = result.run.verdict->tied_with;
  for (const auto& trial : result.run.trials) {
    if (trial.configuration != kBoth && trial.configuration != kFewest) continue;
    EXPECT_NE(std::find(tied.begin(), tied.end(), trial.id), tied.end()) << trial.configuration.to_text();
  }
  EXPECT_EQ(result.run.verdict->configuration, kFewest) << result.run.verdict->configuration.to_text();
}

TEST_F(QuickTiesTest, a_setting_that_is_not_proven_to_matter_is_left_out) {
  request_.finalists = 1;
  request_.leave_one_out = true;
  trial_ratio_ = 0.9;  // fastest by its trial
  executor_.pair_ratio = [](const Configuration& a, const Configuration& b) -> std::optional<double> {
    if (a == kBoth && b == kFewest) return 0.99;
    return std::nullopt;
  };
  const auto quick = search("quick");
  EXPECT_EQ(quick.run.verdict->configuration, kFewest) << quick.run.verdict->configuration.to_text();
  EXPECT_TRUE(quick.run.verdict->unproven.empty());
}

// What is shown to cost speed is not left out for the sake of fewer settings.
TEST_F(QuickTiesTest, a_proven_setting_stays) {
  request_.finalists = 1;
  request_.leave_one_out = true;
  executor_.noise = 0.02;
  trial_ratio_ = 0.8;
  EXPECT_EQ(search("quick").run.verdict->configuration, kBoth);
}

}  // namespace
}  // namespace ridgeline::campaign
