// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "workload/training/synthetic_step_runner.hpp"

namespace ridgeline::workload {
namespace {

using schema::AmpMode;
using schema::DataMode;
using schema::TrainingSettings;

double wall(const std::string& text, const TrainingSettings& settings, DataMode data = DataMode::loader) {
  return synthetic_phases(*parse_step_options(text), settings, data, false).wall_ms;
}

TEST(SyntheticStep, phases_add_up_to_the_wall_time) {
  const auto step = synthetic_phases(*parse_step_options(""), {128, 4, AmpMode::bf16, true}, DataMode::loader, false);
  EXPECT_NEAR(step.sum_ms(), step.wall_ms, 1e-9);
  EXPECT_GT(step.forward_ms, 0);
}

TEST(SyntheticStep, workers_help_until_the_device_is_the_limit) {
  const std::string text = "decode_us=1000,compute_us=100,cores=32";
  EXPECT_GT(wall(text, {128, 0, AmpMode::off, true}), wall(text, {128, 4, AmpMode::off, true}) * 2);
  EXPECT_NEAR(wall(text, {128, 16, AmpMode::off, true}), wall(text, {128, 24, AmpMode::off, true}), 0.1);
}

TEST(SyntheticStep, data_modes_take_parts_away) {
  const TrainingSettings settings{256, 2, AmpMode::off, false};
  const std::string text = "decode_us=2000";
  EXPECT_GT(wall(text, settings), wall(text, settings, DataMode::host));
  EXPECT_GT(wall(text, settings, DataMode::host), wall(text, settings, DataMode::device));
}

TEST(SyntheticStep, runs_out_of_memory_at_the_batch_that_does_not_fit) {
  const auto clock = std::make_shared<const VirtualClock>();
  const auto factory = make_synthetic_steps(clock);
  for (const std::int64_t batch : {64, 1024}) {
    schema::TrainingTrialSpec spec;
    spec.job.target = "memory_gb=8,sample_gb=0.02";
    spec.device = "cuda:0";
    spec.settings = {batch, 2, AmpMode::off, true};
    const auto runner = *factory(spec);
    ASSERT_TRUE(runner->prepare(spec));
    const auto window = runner->run(3);
    EXPECT_EQ(window.has_value(), batch == 64);
    if (!window) {
      EXPECT_EQ(window.error().error.code, base::ErrorCode::out_of_memory);
    }
  }
}

TEST(SyntheticStep, text_with_a_slip_names_the_nearest_item) {
  const auto options = parse_step_options("synthetic:decode_uss=3");
  ASSERT_FALSE(options);
  EXPECT_NE(options.error().hint.find("did you mean \"decode_us\""), std::string::npos) << options.error().message;
  EXPECT_FALSE(parse_step_options("cores=0"));
  EXPECT_FALSE(parse_step_options("noise=-1"));
  EXPECT_FALSE(parse_step_options("fault=oom_forwrd"));
  EXPECT_FALSE(parse_step_options("fault=shape if color=red"));
}

TEST(SyntheticStep, faults_meet_the_settings_they_name) {
  const auto options = parse_step_options("fault=oom_cublas@warmup if batch>=256 and amp=fp16 and data=loader");
  ASSERT_TRUE(options);
  const auto& fault = options->faults.at(0);
  EXPECT_TRUE(fault.meets({256, 1, AmpMode::fp16, false}, DataMode::loader));
  EXPECT_FALSE(fault.meets({128, 1, AmpMode::fp16, false}, DataMode::loader));
  EXPECT_FALSE(fault.meets({256, 1, AmpMode::off, false}, DataMode::loader));
  EXPECT_FALSE(fault.meets({256, 1, AmpMode::fp16, false}, DataMode::device));
}

}  // namespace
}  // namespace ridgeline::workload
