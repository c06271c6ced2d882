// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/bench_defaults.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ridgeline::campaign {
namespace {

using schema::AmpMode;

schema::TrainingJob job_of(const std::string& kind, const std::string& data = "") {
  schema::TrainingJob job;
  job.kind = kind;
  job.data_path = data;
  return job;
}

TEST(BenchDefaults, the_gpu_is_used_if_the_framework_can) {
  const auto python = job_of("python");
  EXPECT_EQ(default_device(python, true, true), "cuda:0");
  EXPECT_EQ(default_device(python, false, true), "cpu");
  EXPECT_EQ(default_device(python, true, false), "cpu");
  EXPECT_EQ(default_device(job_of("synthetic"), false, false), "cuda:0");
}

TEST(BenchDefaults, batches_are_doubled) {
  const auto batches = default_batches();
  ASSERT_EQ(batches.size(), 14U);
  EXPECT_EQ(batches.front(), 1);
  EXPECT_EQ(batches[1], 2);
  EXPECT_EQ(batches.back(), 8192);
}

TEST(BenchDefaults, workers_go_up_to_the_cpus) {
  EXPECT_EQ(default_workers(job_of("python"), 6), (std::vector{0, 1, 2, 4}));
  EXPECT_EQ(default_workers(job_of("native", "data.h5"), 64), (std::vector{0, 1, 2, 4, 8, 16}));
  EXPECT_EQ(default_workers(job_of("synthetic"), 1), (std::vector{0, 1, 2, 4, 8, 16}));
}

TEST(BenchDefaults, random_data_of_the_native_way_need_no_workers) {
  EXPECT_EQ(default_workers(job_of("native"), 64), std::vector{0});
}

TEST(BenchDefaults, mixed_precision_and_pinned_memory_are_for_gpus) {
  EXPECT_EQ(default_amps("cuda:1"), (std::vector{AmpMode::off, AmpMode::bf16}));
  EXPECT_EQ(default_amps("cpu"), std::vector{AmpMode::off});
  EXPECT_EQ(default_pins("cuda:1"), (std::vector{false, true}));
  EXPECT_EQ(default_pins("cpu"), std::vector{false});
}

TEST(BenchDefaults, a_trial_takes_a_twentieth_of_the_time_but_no_less_than_a_second) {
  schema::TrainingPlan plan;
  limit_trials(plan, 3600);
  EXPECT_EQ(plan.max_time_s, 30);
  limit_trials(plan, 100);
  EXPECT_EQ(plan.max_time_s, 5);
  EXPECT_EQ(plan.max_warmup_s, 5);
  limit_trials(plan, 2);
  EXPECT_EQ(plan.max_time_s, 1);
  EXPECT_EQ(grace_s(2), 5);
  EXPECT_EQ(grace_s(200), 10);
}

TEST(BenchDefaults, what_the_file_lacks_is_assumed_and_named_but_not_its_batch) {
  BenchConfig config;
  config.num_workers = 4;
  EXPECT_FALSE(current_settings(config, "cuda:0"));
  config.batch_size = 64;
  config.pin_memory = true;
  const auto on_gpu = current_settings(config, "cuda:0");
  ASSERT_TRUE(on_gpu);
  EXPECT_EQ(on_gpu->settings.batch, 64);
  EXPECT_EQ(on_gpu->settings.workers, 4);
  EXPECT_TRUE(on_gpu->settings.pin_memory);
  EXPECT_EQ(on_gpu->settings.amp, AmpMode::off);
  EXPECT_EQ(on_gpu->assumed, std::vector<std::string>{"use_amp"});
  EXPECT_FALSE(on_gpu->unpinned);
  const auto on_cpu = current_settings(config, "cpu");
  ASSERT_TRUE(on_cpu);
  EXPECT_FALSE(on_cpu->settings.pin_memory);
  EXPECT_TRUE(on_cpu->unpinned);
}

}  // namespace
}  // namespace ridgeline::campaign
