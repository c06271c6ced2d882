// SPDX-License-Identifier: Apache-2.0
#include "analysis/varied_settings.hpp"

#include <gtest/gtest.h>

namespace ridgeline::analysis {
namespace {

using schema::AmpMode;
using schema::DataMode;
using schema::TrainingSettings;

schema::BenchRun run_on(const char* device) {
  schema::BenchRun run;
  run.device = device;
  run.request.job.kind = "python";
  return run;
}

schema::BenchTrial& add(schema::BenchRun& run, const TrainingSettings& settings, DataMode data = DataMode::loader) {
  auto& trial = run.trials.emplace_back();
  trial.settings = settings;
  trial.data = data;
  return trial;
}

TEST(VariedSettings, one_value_decides_nothing) {
  auto run = run_on("cuda:0");
  add(run, {64, 2, AmpMode::off, true});
  auto varied = varied_settings(run);
  EXPECT_FALSE(varied.batch || varied.workers || varied.amp || varied.pin_memory);
  add(run, {128, 4, AmpMode::bf16, false}).stage = schema::BenchStage::experiment;
  varied = varied_settings(run);
  EXPECT_FALSE(varied.batch || varied.workers || varied.amp || varied.pin_memory) << "experiments are no answers";
  add(run, {128, 4, AmpMode::bf16, false}).outcome.status = schema::TrialStatus::crashed;
  varied = varied_settings(run);
  EXPECT_FALSE(varied.batch || varied.workers || varied.amp || varied.pin_memory);
  run.trials.back().outcome.status = schema::TrialStatus::out_of_memory;
  varied = varied_settings(run);
  EXPECT_TRUE(varied.batch && varied.workers && varied.amp && varied.pin_memory);
}

TEST(VariedSettings, what_makes_no_difference_here_was_not_measured) {
  auto run = run_on("cpu");
  add(run, {64, 2, AmpMode::off, true});
  add(run, {128, 4, AmpMode::bf16, false});
  EXPECT_FALSE(varied_settings(run).pin_memory) << "without a GPU";
  EXPECT_TRUE(varied_settings(run).workers);
  run.request.job.kind = "native";
  EXPECT_FALSE(varied_settings(run).workers) << "random data load nothing";
  auto curves = run_on("cuda:0");
  add(curves, {64, 0, AmpMode::off, false}, DataMode::device);
  add(curves, {64, 2, AmpMode::off, true});
  EXPECT_FALSE(varied_settings(curves).workers || varied_settings(curves).pin_memory)
      << "data on the device have neither workers nor copies";
}

}  // namespace
}  // namespace ridgeline::analysis
