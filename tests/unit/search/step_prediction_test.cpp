// SPDX-License-Identifier: Apache-2.0
#include "search/step_prediction.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace ridgeline::search {
namespace {

using schema::AmpMode;
using schema::DataMode;
using schema::TrainingSettings;

BenchObservation rate(double samples_per_s, std::optional<double> memory_gb = std::nullopt) {
  BenchObservation out;
  out.samples_per_s = samples_per_s;
  out.memory_gb = memory_gb;
  return out;
}

/// A step of `step_ms` on the device alone.
void compute(StepPrediction& prediction, std::int64_t batch, double step_ms, AmpMode amp = AmpMode::off,
             std::optional<double> memory_gb = std::nullopt) {
  prediction.observe({{batch, 0, amp, false}, DataMode::device},
                     rate(static_cast<double>(batch) / step_ms * 1000, memory_gb));
}
void load(StepPrediction& prediction, int workers, double samples_per_s) {
  prediction.observe({{16, workers, AmpMode::off, false}, DataMode::loader_only}, rate(samples_per_s));
}
/// A step with the loader: `own_ms` on the device, `wait_ms` for data.
void joint(StepPrediction& prediction, const TrainingSettings& settings, double own_ms, double wait_ms) {
  auto seen = rate(static_cast<double>(settings.batch) / (own_ms + wait_ms) * 1000);
  seen.phases.forward_ms = own_ms;
  seen.phases.io_wait_ms = wait_ms;
  prediction.observe({settings, DataMode::loader}, seen);
}

TEST(StepPrediction, a_step_lasts_as_long_as_the_slower_of_computing_and_loading) {
  StepPrediction prediction;
  compute(prediction, 100, 10);
  load(prediction, 4, 5000);
  load(prediction, 8, 20000);
  EXPECT_NEAR(*prediction.samples_per_s({100, 4, AmpMode::off, false}), 5000, 1);
  EXPECT_NEAR(*prediction.samples_per_s({100, 8, AmpMode::off, false}), 10000, 1);
  EXPECT_FALSE(prediction.samples_per_s({200, 8, AmpMode::off, false})) << "never measured";
}

TEST(StepPrediction, a_loader_that_nobody_waits_for_is_as_fast_as_the_step) {
  StepPrediction prediction;
  compute(prediction, 100, 10);
  compute(prediction, 1000, 40);
  load(prediction, 8, 6000);
  joint(prediction, {100, 8, AmpMode::off, false}, 10, 0.1);
  EXPECT_NEAR(*prediction.samples_per_s({1000, 8, AmpMode::off, false}), 9901, 20)
      << "not the 6000 that it came to by itself";
  joint(prediction, {1000, 8, AmpMode::off, false}, 40, 80);
  EXPECT_LT(*prediction.samples_per_s({1000, 8, AmpMode::off, false}), 8600) << "one that is waited for is not";
}

// Two of 200 simulated machines were missed by 8 and 11 %: their workers slowed the step down, and not the loader.
TEST(StepPrediction, crowding_slows_the_step_and_not_the_loader) {
  StepPrediction prediction;
  compute(prediction, 100, 10);
  load(prediction, 16, 9000);
  joint(prediction, {100, 16, AmpMode::off, false}, 15, 0.05);
  EXPECT_NEAR(prediction.crowding(16), 1.5, 1e-9);
  EXPECT_EQ(prediction.crowding(0), 1);
  EXPECT_NEAR(prediction.crowding(8), 1.125, 1e-9) << "hardly any of it by half the workers";
  compute(prediction, 100, 5, AmpMode::bf16);
  // Half the computing, crowded: 7.5 ms; the loader's 11.1 ms are what counts, not 1.5 times that.
  EXPECT_NEAR(*prediction.samples_per_s({100, 16, AmpMode::bf16, false}), 9000, 100);
}

TEST(StepPrediction, gaps_of_the_curve_lie_on_the_lines_through_its_points) {
  StepPrediction prediction(true);
  compute(prediction, 100, 12, AmpMode::off, 3);
  compute(prediction, 1000, 102, AmpMode::off, 12);  // 2 ms and 0.1 ms a sample
  const auto step_ms = [&](std::int64_t batch, AmpMode amp = AmpMode::off) {
    return static_cast<double>(batch) / *prediction.samples_per_s({batch, 0, amp, false}) * 1000;
  };
  EXPECT_NEAR(step_ms(500), 52, 1e-6);
  EXPECT_NEAR(step_ms(2000), 202, 1e-6);
  EXPECT_NEAR(step_ms(50), 12 * std::sqrt(0.5), 1e-6) << "small batches leave the device idle";
  EXPECT_NEAR(*prediction.memory_gb({500, 0, AmpMode::off, false}), 7, 1e-6);
  // Another precision has the form of the curve from the first, and its own speed.
  EXPECT_NEAR(step_ms(500, AmpMode::bf16), 52, 1e-6);
  compute(prediction, 100, 6, AmpMode::bf16);
  EXPECT_NEAR(step_ms(1000, AmpMode::bf16), 51, 1e-6);
  EXPECT_FALSE(prediction.memory_gb({1000, 0, AmpMode::fp16, false})) << "of a precision never run";
}

TEST(StepPrediction, one_point_alone_promises_nothing_beyond_itself) {
  StepPrediction prediction(true);
  compute(prediction, 100, 10, AmpMode::off, 4);
  EXPECT_NEAR(*prediction.samples_per_s({1000, 0, AmpMode::off, false}), 10000, 1e-6);
  EXPECT_NEAR(*prediction.samples_per_s({10, 0, AmpMode::off, false}), 1000, 1e-6);
  EXPECT_NEAR(*prediction.memory_gb({1000, 0, AmpMode::off, false}), 40, 1e-6) << "never too little";
}

TEST(StepPrediction, across_gaps_a_joint_trial_tells_of_its_loader) {
  StepPrediction prediction(true);
  compute(prediction, 100, 1);
  joint(prediction, {100, 4, AmpMode::off, true}, 1, 19);
  // 200 us a sample with 4 workers: twice that with 2, and with 8 thought to be half.
  EXPECT_NEAR(*prediction.samples_per_s({100, 2, AmpMode::off, true}), 2500, 50);
  EXPECT_NEAR(*prediction.samples_per_s({100, 8, AmpMode::off, true}), 10000, 200);
}

}  // namespace
}  // namespace ridgeline::search
