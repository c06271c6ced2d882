// SPDX-License-Identifier: Apache-2.0
// Campaigns over a model whose only output are labels, whose output error is the share that differs.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "campaign/tune/tune_campaign.hpp"
#include "fakes/fake_gpu_pool.hpp"
#include "fakes/gpu_pool_request.hpp"
#include "fakes/stored_results.hpp"
#include "fakes/temporary_folder.hpp"
#include "fakes/tune_campaign_fixture.hpp"
#include "fakes/words.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;
using schema::TrialStatus;
using schema::Value;

schema::ModelDescription labelling_model() {
  auto model = fakes::FakeExecutor::default_model();
  model.outputs = {{"labels", "int64", {1, 512, 512}, {"", "", ""}}};
  return model;
}

std::size_t rejected(const TuneResult& result) {
  return static_cast<std::size_t>(std::count_if(result.outcomes.begin(), result.outcomes.end(), [](const auto& entry) {
    return entry.second.status == TrialStatus::rejected_accuracy;
  }));
}

class LabelsTest : public fakes::TuneCampaignFixture {
 protected:
  void SetUp() override {
    fakes::TuneCampaignFixture::SetUp();
    executor_.model = labelling_model();
    // The fastest setting labels everything wrong, the others disagree about a tie.
    executor_.output_error = [](const Configuration& c) {
      return c.get_or("intra_op_num_threads", 0) == Value(2) ? 1.0 : 4e-6;
    };
  }
};

TEST_F(LabelsTest, wrong_ones_are_rejected_and_ties_are_not) {
  const auto result = must_run();
  EXPECT_DOUBLE_EQ(result.run.accuracy_tolerance, 1e-3);
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::keep);
  std::size_t with_two_threads = 0;
  for (const auto& trial : result.run.trials) {
    const bool wrong = trial.configuration.get_or("intra_op_num_threads", 0) == Value(2);
    with_two_threads += wrong ? 1 : 0;
    EXPECT_EQ(result.outcomes.at(trial.key).status, wrong ? TrialStatus::rejected_accuracy : TrialStatus::ok)
        << trial.configuration.to_text();
  }
  EXPECT_GT(with_two_threads, 0U);
  const auto shown = load_stored(*store_, result.run.id);
  ASSERT_TRUE(shown);
  EXPECT_EQ(rejected(*shown), rejected(result));
}

TEST_F(LabelsTest, are_not_looked_at_when_the_check_is_off) {
  request_.check_accuracy = false;
  const auto result = must_run();
  EXPECT_EQ(result.run.accuracy_tolerance, 0);
  EXPECT_EQ(rejected(result), 0U);
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::change);
  const auto shown = load_stored(*store_, result.run.id);
  ASSERT_TRUE(shown);
  EXPECT_EQ(rejected(*shown), 0U);
}

class LabelsOnGpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    request_ = fakes::gpu_pool_request(folder_.path(), 1, {{"prefer_nhwc", {true}}, {"io_binding", {"stream"}}});
    pool_.simple.model = labelling_model();
    pool_.simple.cost_ns = [](const auto& c) { return c.contains("prefer_nhwc") ? 1e6 : 2e6; };
    pool_.simple.output_error = [](const auto& c) { return c.contains("prefer_nhwc") ? 1.0 : 8e-3; };
  }
  TuneResult run() { return fakes::tuned(pool_, clock_, folder_ / "r.db", request_); }
  static bool has_note(const TuneResult& result, std::string_view text) {
    return std::any_of(result.run.notes.begin(), result.run.notes.end(),
                       [&](const auto& note) { return fakes::text_of(note).find(text) != std::string::npos; });
  }

  fakes::TemporaryFolder folder_;
  fakes::FakeClock clock_;
  fakes::FakeGpuPool pool_{clock_, 1};
  TuneRequest request_;
};

TEST_F(LabelsOnGpuTest, that_its_own_defaults_change_are_accepted_with_a_note_and_wrong_ones_are_not) {
  const auto result = run();
  ASSERT_FALSE(result.run.trials.empty());
  EXPECT_EQ(result.outcomes.at(result.run.trials.front().key).status, TrialStatus::ok);
  EXPECT_DOUBLE_EQ(result.run.accuracy_tolerance, 0.016);
  EXPECT_TRUE(has_note(result, "differ by 0.008"));
  EXPECT_GT(rejected(result), 0U);
  EXPECT_FALSE(result.run.verdict->configuration.contains("prefer_nhwc"));
}

TEST_F(LabelsOnGpuTest, a_drift_in_the_store_does_not_turn_the_check_on) {
  const auto checked = run();
  ASSERT_GT(rejected(checked), 0U);
  request_.check_accuracy = false;
  const auto result = run();
  ASSERT_FALSE(result.run.trials.empty());
  EXPECT_TRUE(result.run.trials.front().cached);
  EXPECT_EQ(result.run.accuracy_tolerance, 0);
  EXPECT_FALSE(has_note(result, "differ by"));
  EXPECT_EQ(rejected(result), 0U);
}

/// Defaults whose single values are far off, as TF32 makes those of a model that amplifies rounding.
class RoundingOnGpuTest : public LabelsOnGpuTest {
 protected:
  void SetUp() override {
    LabelsOnGpuTest::SetUp();
    pool_.simple.model.outputs.front().element_type = "float";
    pool_.simple.output_error = [](const auto& c) { return c.contains("io_binding") ? 0.3 : 0.16; };
    pool_.simple.cosine = [](const auto& c) { return c.contains("io_binding") ? 0.9 : 0.991; };
  }
};

TEST_F(RoundingOnGpuTest, what_is_as_much_alike_as_the_defaults_is_accepted_with_a_note) {
  const auto result = run();
  ASSERT_TRUE(result.run.accuracy_gate);
  EXPECT_DOUBLE_EQ(result.run.accuracy_gate->least_cosine, 0.982);
  EXPECT_TRUE(has_note(result, "cosine similarity of 0.991"));
  EXPECT_TRUE(has_note(result, "A similarity of 0.982 is accepted"));
  EXPECT_TRUE(result.run.verdict->configuration.contains("prefer_nhwc"));
  EXPECT_FALSE(result.run.verdict->configuration.contains("io_binding"));
  EXPECT_GT(rejected(result), 0U);
  const auto again = run();
  EXPECT_EQ(again.run.accuracy_gate->least_cosine, result.run.accuracy_gate->least_cosine);
}

TEST_F(RoundingOnGpuTest, defaults_that_are_wrong_are_not) {
  pool_.simple.cosine = [](const auto&) { return 0.97; };
  const auto result = run();
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::none);
  EXPECT_EQ(rejected(result), result.outcomes.size());
}

TEST_F(RoundingOnGpuTest, a_limit_of_the_user_stays) {
  request_.accuracy_tolerance = 0.01;
  const auto result = run();
  EXPECT_FALSE(result.run.accuracy_gate);
  EXPECT_EQ(rejected(result), result.outcomes.size());
}

}  // namespace
}  // namespace ridgeline::campaign
