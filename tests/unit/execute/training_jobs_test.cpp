// SPDX-License-Identifier: Apache-2.0
#include "execute/training_jobs.hpp"

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "execute/calls.hpp"
#include "fakes/fake_nvml.hpp"
#include "fakes/words.hpp"

namespace ridgeline::execute {
namespace {

constexpr double kStepMs = 2;
constexpr long long kWorkerPid = 4711;

/// Steps that really take a while, with a process on the fake GPU from the first trial on.
class SleepyRunner final : public workload::StepRunner {
 public:
  SleepyRunner(fakes::FakeNvml& nvml, std::optional<double> busy) : nvml_(nvml), busy_(busy) {}
  workload::StepResult<void> prepare(const schema::TrainingTrialSpec&) override {
    nvml_.set(kFakeOwnPid, kWorkerPid);
    nvml_.set(kFakeOwnMemory, 1'000'000'000);
    return {};
  }
  workload::StepResult<workload::StepWindow> run(std::int64_t steps) override {
    base::system_clock().sleep_for(base::from_seconds(static_cast<double>(steps) * kStepMs * 1e-3));
    workload::StepWindow window;
    window.steps.assign(static_cast<std::size_t>(steps), {0, 0, kStepMs / 2, kStepMs / 2, 0, 0, kStepMs});
    window.wall_ms = kStepMs * static_cast<double>(steps);
    return window;
  }
  workload::StepResult<void> reset_peaks() override { return {}; }
  workload::StepResult<schema::TrainingResources> resources() override {
    schema::TrainingResources out;
    out.gpu_busy = busy_;
    return out;
  }
  void close() noexcept override {}

 private:
  fakes::FakeNvml& nvml_;
  std::optional<double> busy_;
};

bool has_flag(const schema::TrainingMeasurement& measurement, std::string_view code) {
  return std::any_of(measurement.flags.begin(), measurement.flags.end(),
                     [&](const auto& flag) { return flag.code == code; });
}

class TrainingJobsTest : public ::testing::Test {
 protected:
  TrainingJobsTest() {
    nvml_.script("healthy");
    nvml_.set(kFakeMoving, 0);
  }
  std::unique_ptr<LocalTransport> make() {
    TrainingOptions options;
    options.factory = [this](const auto&) -> base::Result<std::unique_ptr<workload::StepRunner>> {
      return std::make_unique<SleepyRunner>(nvml_, by_events_);
    };
    options.process_waits = [this] { return waits_; };
    options.gpu_uuid = "GPU-fake-0";
    options.nvml = {RL_TEST_FAKE_NVML};
    auto transport = std::make_unique<LocalTransport>();
    add_training_jobs(*transport, std::move(options));
    return transport;
  }
  static schema::TrainingMeasurement run(LocalTransport& executor, int steps = 40) {
    schema::TrainingTrialSpec spec;
    spec.device = "cuda:0";
    spec.plan.steps = steps;
    spec.plan.window_steps = 40;
    const auto answer = executor.run(training_job(spec)).value();
    return base::json_as<schema::TrainingOutcome>(answer.value, "outcome").value().measurement.value();
  }

  fakes::FakeNvml nvml_{RL_TEST_FAKE_NVML};
  std::optional<double> by_events_;
  bool waits_ = false;
};

TEST_F(TrainingJobsTest, the_gpu_s_share_is_gpm_s_and_nvml_s_stays_beside_it) {
  const auto measured = run(*make(), 240);  // long enough for its counters
  // GPM of the fake says 61 % of the time between looks, which a little more than the windows went into.
  EXPECT_GE(measured.resources.gpu_busy.value_or(0), 0.609);
  EXPECT_NEAR(measured.resources.gpu_util.value_or(0), 0.87, 1e-6);
  EXPECT_TRUE(has_flag(measured, "gpu_busy_gpm"));
  EXPECT_FALSE(has_flag(measured, "gpu_busy_nvml"));
}

TEST_F(TrainingJobsTest, without_gpm_nvml_s_share_is_flagged_with_the_reason) {
  nvml_.set(kFakeGpm, 0);
  const auto measured = run(*make());
  EXPECT_FALSE(measured.resources.gpu_busy);
  ASSERT_TRUE(measured.resources.gpu_util);
  ASSERT_TRUE(has_flag(measured, "gpu_busy_nvml"));
  EXPECT_NE(fakes::text_of(measured.flags.back().message).find("Hopper or later"), std::string::npos);
}

TEST_F(TrainingJobsTest, a_share_by_device_events_is_left_as_it_is) {
  by_events_ = 0.4;
  const auto measured = run(*make());
  EXPECT_EQ(measured.resources.gpu_busy, 0.4);
  EXPECT_FALSE(has_flag(measured, "gpu_busy_gpm"));
}

TEST_F(TrainingJobsTest, the_process_kept_for_the_next_trial_is_no_neighbour) {
  const auto executor = make();
  waits_ = false;
  EXPECT_FALSE(has_flag(run(*executor), "gpu_shared"));
  waits_ = true;
  EXPECT_FALSE(has_flag(run(*executor), "gpu_shared"));
  nvml_.set(kFakeOtherPid, 99);
  EXPECT_TRUE(has_flag(run(*executor), "gpu_shared"));
  nvml_.set(kFakeOtherPid, 0);
  // Nothing of ours was kept: whoever is there before the trial begins is somebody else.
  waits_ = false;
  EXPECT_TRUE(has_flag(run(*executor), "gpu_shared"));
}

}  // namespace
}  // namespace ridgeline::execute
