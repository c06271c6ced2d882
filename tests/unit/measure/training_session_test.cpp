// SPDX-License-Identifier: Apache-2.0
#include "measure/training_session.hpp"
#include "fakes/words.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include <gtest/gtest.h>

#include "ridgeline_train/messages.hpp"
#include "workload/training/synthetic_step_runner.hpp"

namespace ridgeline::measure {
namespace {

using schema::AmpMode;

class TrainingSession : public ::testing::Test {
 protected:
  tl::expected<schema::TrainingMeasurement, TrainingFailure> measure(const std::string& text,
                                                                     schema::TrainingTrialSpec spec = {}) {
    spec.job.target = text;
    spec.device = "cuda:0";
    if (spec.settings.batch == 32) spec.settings = {128, 4, AmpMode::off, true};
    spec_ = spec;
    const auto runner = *workload::make_synthetic_steps(clock_)(spec);
    return measure_training(*runner, spec, control_);
  }
  std::shared_ptr<const workload::VirtualClock> clock_ = std::make_shared<const workload::VirtualClock>();
  TrainingControl control_;
  schema::TrainingTrialSpec spec_;
};

TEST_F(TrainingSession, finds_the_rate_behind_the_noise) {
  const std::string text = "noise=0.02";
  const auto result = measure(text);
  ASSERT_TRUE(result);
  const auto truth = workload::synthetic_phases(*workload::parse_step_options(text), spec_.settings, spec_.data, false);
  EXPECT_NEAR(result->samples_per_s.value, 128 / truth.wall_ms * 1000, 128 / truth.wall_ms * 1000 * 0.02);
  EXPECT_LE(result->samples_per_s.low, result->samples_per_s.value);
  EXPECT_GE(result->samples_per_s.high, result->samples_per_s.value);
  EXPECT_GE(result->steps, spec_.plan.steps);
  EXPECT_LT(std::abs(result->identity_error), 0.05);
}

TEST_F(TrainingSession, batches_that_the_workers_had_ready_do_not_count) {
  schema::TrainingTrialSpec spec;
  spec.settings = {128, 12, AmpMode::off, true};
  const std::string text = "decode_us=4000,cores=64,noise=0.005";  // the loader is the limit by far
  const auto result = measure(text, spec);
  ASSERT_TRUE(result);
  const auto truth = workload::synthetic_phases(*workload::parse_step_options(text), spec.settings, spec.data, false);
  EXPECT_NEAR(result->phases.wall_ms.value, truth.wall_ms, truth.wall_ms * 0.02);
  EXPECT_GE(result->warmup_steps, 24);
}

TEST_F(TrainingSession, a_noisy_trial_goes_on_until_its_interval_is_narrow) {
  const auto quiet = measure("noise=0.002");
  const auto noisy = measure("noise=0.1");
  ASSERT_TRUE(quiet && noisy);
  EXPECT_GT(noisy->steps, quiet->steps);
}

TEST_F(TrainingSession, a_trial_that_would_stay_too_noisy_ends_after_a_third_of_its_time) {
  schema::TrainingTrialSpec spec;
  spec.plan.max_steps = 1'000'000;
  const auto timed_s = [&](const std::string& text) {
    const auto result = measure(text, spec);
    return result ? std::accumulate(result->wall_ms.begin(), result->wall_ms.end(), 0.0) / 1000 : 0;
  };
  const double limit_s = spec.plan.max_time_s;
  EXPECT_NEAR(timed_s("compute_us=2000,noise=1.5"), limit_s / 3, limit_s / 10);
  EXPECT_LT(timed_s("compute_us=2000,noise=0.1"), limit_s) << "narrow enough in time";
}

TEST(TrainingPlan, gives_up_on_an_interval_that_time_would_not_narrow) {
  const schema::TrainingPlan plan;  // 30 s, 2 %
  schema::TrainingMeasurement measured;
  measured.steps = plan.steps;
  const auto hopeless = [&](double half_width, double timed_s) {
    measured.samples_per_s = {100, 100 * (1 - half_width), 100 * (1 + half_width)};
    return plan.is_hopeless(measured, timed_s);
  };
  EXPECT_FALSE(hopeless(0.10, 9)) << "too early";
  EXPECT_TRUE(hopeless(0.10, 11));
  EXPECT_FALSE(hopeless(0.03, 11)) << "25 s would do";
  EXPECT_TRUE(hopeless(0.03, 15));
  measured.steps = plan.steps - 1;
  EXPECT_FALSE(hopeless(0.10, 11)) << "fewer steps than asked for";
}

TEST_F(TrainingSession, time_ends_a_trial_that_noise_would_not) {
  schema::TrainingTrialSpec spec;
  spec.plan.max_time_s = 0.5;
  spec.plan.steps = 1000;
  const auto result = measure("compute_us=2000", spec);
  ASSERT_TRUE(result);
  EXPECT_LT(result->steps, 1000);
  EXPECT_GE(result->steps, 3);
}

TEST_F(TrainingSession, a_failure_carries_its_phase_and_evidence) {
  const auto prepare = measure("fault=oom_cpu_allocator@prepare");
  ASSERT_FALSE(prepare);
  EXPECT_EQ(prepare.error().phase, schema::TrialPhase::create_session);
  EXPECT_EQ(prepare.error().error.oom, schema::OomEvidence::text);
  const auto timed = measure("fault=shape@measure");
  ASSERT_FALSE(timed);
  EXPECT_EQ(timed.error().phase, schema::TrialPhase::measure);
  EXPECT_EQ(timed.error().error.oom, schema::OomEvidence::none);
}

TEST_F(TrainingSession, a_signal_ends_it_between_windows) {
  control_.cancelled = [] { return true; };
  const auto result = measure("");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().error.error.code, base::ErrorCode::cancelled);
}

/// A synthetic runner that has something to tell.
class Telling final : public workload::StepRunner {
 public:
  explicit Telling(std::unique_ptr<workload::StepRunner> inner) : inner_(std::move(inner)) {}
  workload::StepResult<void> prepare(const schema::TrainingTrialSpec& spec) override { return inner_->prepare(spec); }
  workload::StepResult<workload::StepWindow> run(std::int64_t steps) override { return inner_->run(steps); }
  workload::StepResult<void> reset_peaks() override { return inner_->reset_peaks(); }
  workload::StepResult<schema::TrainingResources> resources() override {
    auto out = inner_->resources();
    if (out) out->notes["batch_unseen"] = ridgeline_train::messages::batch_unseen(8);
    return out;
  }
  void close() noexcept override { inner_->close(); }
  const base::Clock& clock() const noexcept override { return inner_->clock(); }

 private:
  std::unique_ptr<workload::StepRunner> inner_;
};

TEST_F(TrainingSession, what_a_runner_tells_becomes_a_flag) {
  spec_.settings = {128, 4, AmpMode::off, true};
  spec_.device = "cuda:0";
  Telling runner(*workload::make_synthetic_steps(clock_)(spec_));
  const auto result = measure_training(runner, spec_, control_);
  ASSERT_TRUE(result);
  const auto flag = std::find_if(result->flags.begin(), result->flags.end(),
                                 [](const schema::QualityFlag& one) { return one.code == "batch_unseen"; });
  ASSERT_NE(flag, result->flags.end());
  EXPECT_EQ(flag->level, schema::FlagLevel::notice);
  EXPECT_EQ(fakes::text_of(flag->message),
            "the batches show no number of samples: whether they contain 8 was not checked; return samples(batch) to "
            "have it checked");
  EXPECT_TRUE(result->resources.notes.empty());
}

TEST(SummarizeSteps, identity_is_held_against_the_hosts_clock) {
  workload::StepWindow window;
  for (int i = 0; i < 10; ++i) window.steps.push_back({1, 1, 3, 4, 1, 0, 10});
  window.wall_ms = 125;  // a quarter of the time is in no phase
  const auto summary = summarize_steps({window}, 100);
  EXPECT_NEAR(summary.identity_error, -0.2, 1e-9);
  EXPECT_NEAR(summary.samples_per_s.value, 100 * 10 / 0.125, 1e-6);
  EXPECT_EQ(summary.phases.backward_ms.value, 4);
}

TEST(SummarizeSteps, nothing_measured_is_nothing) { EXPECT_EQ(summarize_steps({}, 8).steps, 0); }

}  // namespace
}  // namespace ridgeline::measure
