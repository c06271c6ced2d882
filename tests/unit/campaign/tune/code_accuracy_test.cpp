// SPDX-License-Identifier: Apache-2.0
// By what the outputs of a PyTorch model are judged.
#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "campaign/tune/tune_campaign.hpp"
#include "fakes/stored_results.hpp"
#include "fakes/tune_campaign_fixture.hpp"
#include "fakes/words.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;
using schema::TrialStatus;

/// A PyTorch model on the CPU.
class CodeTest : public fakes::TuneCampaignFixture {
 protected:
  void SetUp() override {
    fakes::TuneCampaignFixture::SetUp();
    const auto& row = schema::torch_providers().front();
    executor_.model = {};
    executor_.model.path = request_.workload.location = "infer.py:make";
    executor_.model.provider = row.id;
    executor_.model.outputs = {{"0", "float", {1, 10}, {"", ""}}};
    executor_.model.shapes = {{{"0", {1, 4}}}};
    executor_.model.batch_axis_size = 1;
    executor_.model.batch_is_dynamic = true;
    executor_.runtime.emplace();
    executor_.runtime->name = "torch";
    executor_.runtime->version = "2.2.0";
    executor_.runtime->providers = {row.library_name};
    executor_.cost_ns = [](const auto& c) { return c.contains("torch_precision") ? 1e6 : 2e6; };
    request_.precision = "fp32";
    request_.space.values = {{"grad_mode", {"grad", "no_grad"}}};
  }
  void try_half() {
    request_.precision = "fp16";
    request_.space.values.push_back({"torch_precision", {"fp16"}});
  }
  static const schema::TrialOutcome& of(const TuneResult& result, const Configuration& configuration) {
    for (const auto& trial : result.run.trials)
      if (trial.configuration == configuration) return result.outcomes.at(trial.key);
    ADD_FAILURE() << configuration.to_text() << " was not tried";
    return result.outcomes.begin()->second;
  }
  static bool has_note(const TuneResult& result, std::string_view text) {
    return std::any_of(result.run.notes.begin(), result.run.notes.end(),
                       [&](const auto& note) { return fakes::text_of(note).find(text) != std::string::npos; });
  }
  static std::size_t rejected(const TuneResult& result) {
    return static_cast<std::size_t>(
        std::count_if(result.outcomes.begin(), result.outcomes.end(),
                      [](const auto& entry) { return entry.second.status == TrialStatus::rejected_accuracy; }));
  }
  static bool is_half(const Configuration& configuration) { return configuration.contains("torch_precision"); }
};

TEST_F(CodeTest, full_precision_is_judged_by_the_tolerance) {
  executor_.output_error = [](const auto& c) { return c.contains("grad_mode") ? 3e-3 : 0; };
  const auto result = must_run();
  ASSERT_TRUE(result.run.accuracy_gate);
  EXPECT_EQ(result.run.accuracy_gate->least_cosine, 0);
  EXPECT_EQ(result.run.accuracy_gate->tf32_tolerance, 0) << "on a CPU";
  EXPECT_EQ(of(result, {{"grad_mode", "no_grad"}}).status, TrialStatus::rejected_accuracy);
}

TEST_F(CodeTest, half_precision_is_judged_by_its_cosine) {
  try_half();
  executor_.output_error = [](const auto& c) { return is_half(c) ? 2e-2 : 0; };
  executor_.cosine = [](const auto& c) { return is_half(c) ? 0.9995 : 1; };
  auto result = must_run();
  EXPECT_DOUBLE_EQ(result.run.accuracy_gate->least_cosine, 0.999);
  EXPECT_EQ(of(result, {{"torch_precision", "fp16"}}).status, TrialStatus::ok);
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::change);

  executor_.cosine = [](const auto& c) { return is_half(c) ? 0.99 : 1; };
  request_.use_store = false;
  result = must_run();
  EXPECT_EQ(of(result, {{"torch_precision", "fp16"}}).status, TrialStatus::rejected_accuracy);
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::keep);
  const auto shown = load_stored(*store_, result.run.id);
  ASSERT_TRUE(shown);
  EXPECT_EQ(rejected(*shown), rejected(result)) << "the store keeps outcomes unjudged";
}

TEST_F(CodeTest, a_tolerance_of_the_users_holds_for_half_precision_too) {
  request_.space.values.push_back({"torch_precision", {"fp16"}});
  executor_.output_error = [](const auto& c) { return is_half(c) ? 2e-2 : 0; };
  request_.accuracy_tolerance = 1e-2;
  EXPECT_EQ(of(must_run(), {{"torch_precision", "fp16"}}).status, TrialStatus::rejected_accuracy);
  request_.accuracy_tolerance = 3e-2;
  EXPECT_EQ(of(must_run(), {{"torch_precision", "fp16"}}).status, TrialStatus::ok);
}

TEST_F(CodeTest, a_metric_decides_where_there_is_one) {
  try_half();
  executor_.cosine = [](const auto& c) { return is_half(c) ? 0.9 : 1; };
  executor_.metric = [](const auto& c) { return is_half(c) ? 0.745 : 0.75; };
  auto result = must_run();
  EXPECT_EQ(result.run.accuracy_gate->reference_metric, 0.75);
  EXPECT_DOUBLE_EQ(result.run.accuracy_gate->metric_loss, 0.01);
  EXPECT_EQ(rejected(result), 0U);
  EXPECT_EQ(of(result, {{"torch_precision", "fp16"}}).output_error->metric, 0.745);

  request_.metric_loss = 0.005;
  result = must_run();
  EXPECT_TRUE(result.run.trials.front().cached) << "another limit needs no new measurement";
  const auto& outcome = of(result, {{"torch_precision", "fp16"}});
  EXPECT_EQ(outcome.status, TrialStatus::rejected_accuracy);
  EXPECT_EQ(fakes::text_of(outcome.failure->message), "metric 0.745, reference 0.75, maximum accepted loss 0.5 %");
}

TEST_F(CodeTest, a_trial_that_was_stored_without_the_metric_is_measured_again) {
  must_run();
  executor_.metric = [](const auto&) { return 1.0; };
  request_.reference_folder = folder_ / "elsewhere";
  ASSERT_TRUE(store_->save_trial(executor_.references.front(), {}));
  const auto result = must_run();
  ASSERT_TRUE(result.run.accuracy_gate->reference_metric);
  EXPECT_FALSE(result.run.trials.front().cached);
  EXPECT_TRUE(of(result, {}).output_error->metric);
}

TEST_F(CodeTest, a_reference_without_a_finite_metric_ends_the_run) {
  executor_.metric = [](const auto&) { return std::nan(""); };
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::ErrorCode::invalid_argument);
  EXPECT_EQ(result.error().message,
            "infer.py:make: the metric of the unchanged model's outputs is not finite; expected a number to compare "
            "with");
}

TEST_F(CodeTest, what_a_metric_replaces_cannot_be_asked_for_beside_it) {
  executor_.metric = [](const auto&) { return 1.0; };
  request_.accuracy_tolerance = 1e-4;
  auto result = run();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("--accuracy-tolerance 0.0001: infer.py:make returns a metric"),
            std::string::npos);
  request_.accuracy_tolerance.reset();
  request_.metric_loss = 0.02;
  executor_.metric = [](const auto&) { return std::nullopt; };
  request_.use_store = false;
  result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "--metric-loss 2%: infer.py:make returns no metric");
}

TEST_F(CodeTest, outputs_that_are_random_widen_the_tolerance_and_say_so) {
  executor_.reference_noise = 2e-3;
  executor_.output_error = [](const auto&) { return 1.9e-2; };
  const auto result = must_run();
  EXPECT_EQ(rejected(result), 0U);
  EXPECT_DOUBLE_EQ(result.run.accuracy_tolerance, 2e-2);
  EXPECT_TRUE(has_note(result, "differ by 0.002 from run to run, so up to 0.02 is accepted"));
}

TEST_F(CodeTest, all_batches_have_one_reference) {
  request_.objective = schema::Objective::throughput;
  request_.space.values = {{"batch_size", {2, 4}}};
  const auto result = must_run();
  EXPECT_EQ(result.run.trials.size(), 3U);
  ASSERT_EQ(executor_.references_made, 1);
  EXPECT_FALSE(executor_.references.front().configuration.contains("batch_size"));
}

}  // namespace
}  // namespace ridgeline::campaign
