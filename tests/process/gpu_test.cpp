// SPDX-License-Identifier: Apache-2.0
// A worker whose management library is the fake one, found by its own name through LD_LIBRARY_PATH.
#include "fakes/words.hpp"
#include "worker_fixture.hpp"

#include <algorithm>

#include "fakes/fake_nvml.hpp"

namespace ridgeline::execute {
namespace {

WorkerOptions options_with_gpu(const std::string& more = "") {
  auto options = worker_options();
  options.environment = {
      {"LD_LIBRARY_PATH", RL_TEST_FAKE_NVML_FOLDER},
      {"RL_FAKE_NVML", fmt::format("{}=1,{}=500000000,{}=1980{}", static_cast<int>(kFakeDeviceCount),
                                   static_cast<int>(kFakeMemoryUsed), static_cast<int>(kFakeSmClock), more)}};
  return options;
}

schema::TrialSpec gpu_spec(const std::string& location) {
  auto spec = synthetic_spec(location);
  spec.provider = "cuda";
  spec.device = "gpu:GPU-fake-0";
  return spec;
}

TEST(WorkerOnGpu, records_what_the_gpu_did) {
  const auto executor = make_local_executor(options_with_gpu());
  const auto outcome = execute::run_trial(*executor, gpu_spec("clock=real"), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->status, schema::TrialStatus::ok) << fakes::text_of(outcome->failure->message);
  const auto& measurement = *outcome->measurement;
  ASSERT_TRUE(measurement.gpu.has_value());
  EXPECT_EQ(measurement.gpu->uuid, "GPU-fake-0");
  EXPECT_FALSE(measurement.gpu->samples.empty());
  EXPECT_GT(measurement.gpu->timed_to_s, measurement.gpu->timed_from_s);
  EXPECT_GT(measurement.gpu->kept_s, 0);
  EXPECT_EQ(measurement.gpu->throttle_ns.at("power"), 0);
  EXPECT_EQ(measurement.metrics.count("gpu_memory_gb"), 1U);
  EXPECT_FALSE(schema::has_flag(measurement.flags, "gpu_shared"));
  EXPECT_FALSE(schema::has_flag(measurement.flags, "throttled"));
}

TEST(WorkerOnGpu, flags_somebody_elses_process) {
  const auto executor = make_local_executor(options_with_gpu(fmt::format(",{}=4711", static_cast<int>(kFakeOtherPid))));
  for (int trial = 0; trial < 2; ++trial) {
    const auto outcome = execute::run_trial(*executor, gpu_spec("clock=real"), {});
    ASSERT_TRUE(outcome && outcome->measurement);
    EXPECT_TRUE(schema::has_flag(outcome->measurement->flags, "gpu_shared"));
    ASSERT_EQ(outcome->measurement->gpu->neighbours_before.size(), 1U);
    EXPECT_EQ(outcome->measurement->gpu->neighbours_before[0].pid, 4711);
  }
}

TEST(WorkerOnGpu, watches_comparisons_too) {
  const auto executor = make_local_executor(options_with_gpu(fmt::format(",{}=4711", static_cast<int>(kFakeOtherPid))));
  schema::PairedSpec spec;
  spec.base = gpu_spec("clock=real");
  spec.other = spec.base.configuration;
  spec.plan.rounds = spec.plan.max_rounds = 2;
  spec.plan.abba_rounds = spec.plan.max_abba_rounds = 4;
  spec.plan.min_time_s = 0;
  spec.plan.max_time_s = 1;
  const auto outcome = execute::run_pair(*executor, spec, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->measurement) << fakes::text_of(outcome->failure->message);
  EXPECT_TRUE(schema::has_flag(outcome->measurement->flags, "gpu_shared"));
}

TEST(WorkerOnGpu, is_watched_from_the_parent_when_it_runs_one_arm_only) {
  fakes::FakeNvml nvml(std::string(RL_TEST_FAKE_NVML_FOLDER) + "/libnvidia-ml.so.1");  // of this process from now on
  const auto executor = make_local_executor(options_with_gpu(fmt::format(",{}=4711", static_cast<int>(kFakeOtherPid))));
  schema::PairedSpec spec;
  spec.base = synthetic_spec("clock=real");
  spec.across = gpu_spec("clock=real");
  spec.plan.rounds = spec.plan.max_rounds = 1;
  spec.plan.abba_rounds = spec.plan.max_abba_rounds = 4;
  spec.plan.min_time_s = 0;
  spec.plan.max_time_s = 1;
  for (const bool shared : {false, true}) {
    nvml.set(kFakeOtherPid, shared ? 4711 : 0);
    const auto outcome = execute::run_pair(*executor, spec);
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_TRUE(outcome->measurement) << fakes::text_of(outcome->failure->message);
    EXPECT_EQ(schema::has_flag(outcome->measurement->flags, "gpu_shared"), shared);
  }
}

TEST(WorkerOnGpu, is_there_alone) {
  const auto executor = make_local_executor(options_with_gpu());
  auto spec = gpu_spec("clock=real");
  for (const char* library : {"/a", "/b"}) {
    spec.runtime.library_path = library;
    ASSERT_TRUE(execute::run_trial(*executor, spec, {}));
    EXPECT_EQ(children_of(::getpid()).size(), 1U);
  }
  schema::PairedSpec pair;
  pair.base = spec;
  pair.fresh_process = false;
  pair.plan.rounds = pair.plan.max_rounds = 1;
  pair.plan.abba_rounds = pair.plan.max_abba_rounds = 4;
  pair.plan.min_time_s = 0;
  pair.plan.max_time_s = 1;
  const auto trials_worker = children_of(::getpid());
  ASSERT_TRUE(execute::run_pair(*executor, pair));
  EXPECT_EQ(children_of(::getpid()), trials_worker) << "which compares as well";
}

TEST(WorkerOnGpu, goes_on_after_a_trial_that_failed) {
  const auto executor = make_local_executor(options_with_gpu());
  const auto failed = execute::run_trial(*executor, gpu_spec("clock=real,fault=oom@create_session"), {});
  ASSERT_TRUE(failed) << failed.error().message;
  EXPECT_EQ(failed->status, schema::TrialStatus::out_of_memory);
  const auto outcome = execute::run_trial(*executor, gpu_spec("clock=real"), {});
  ASSERT_TRUE(outcome && outcome->measurement);
  EXPECT_TRUE(outcome->measurement->gpu.has_value());
}

TEST(WorkerOnGpu, tells_what_was_free_and_who_was_there_when_memory_ran_out) {
  const auto executor = make_local_executor(options_with_gpu(fmt::format(",{}=4711", static_cast<int>(kFakeOtherPid))));
  for (const std::string phase : {"create_session", "measure"}) {
    const auto outcome = execute::run_trial(*executor, gpu_spec("clock=real,fault=oom@" + phase), {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_EQ(outcome->status, schema::TrialStatus::out_of_memory) << phase;
    ASSERT_TRUE(outcome->failure->gpu) << phase;
    const auto& gpu = *outcome->failure->gpu;
    EXPECT_EQ(gpu.uuid, "GPU-fake-0");
    EXPECT_EQ(gpu.memory_free_before_bytes, 99'500'000'000);
    EXPECT_EQ(gpu.memory_free_after_bytes, 99'500'000'000);
    ASSERT_EQ(gpu.neighbours_before.size(), 1U);
    EXPECT_EQ(gpu.neighbours_before[0].pid, 4711);
    EXPECT_EQ(gpu.neighbours_before[0].memory_bytes, 1'000'000'000);
  }
}

TEST(WorkerOnGpu, leaves_virtual_time_and_cpu_trials_alone) {
  const auto executor = make_local_executor(options_with_gpu());
  const auto virtual_time = execute::run_trial(*executor, gpu_spec("surface=flat"), {});
  ASSERT_TRUE(virtual_time && virtual_time->measurement);
  EXPECT_FALSE(virtual_time->measurement->gpu.has_value());
  EXPECT_FALSE(schema::has_flag(virtual_time->measurement->flags, "gpu_unobserved"));
  const auto cpu = execute::run_trial(*executor, synthetic_spec("clock=real"), {});
  ASSERT_TRUE(cpu && cpu->measurement);
  EXPECT_FALSE(cpu->measurement->gpu.has_value());
}

TEST(WorkerOnGpu, measures_what_the_gpu_reaches_in_a_process_of_its_own) {
  const auto executor = make_local_executor(options_with_gpu());
  const auto found = execute::gpu_ceilings(*executor, "synthetic", "");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->copy_gb_per_s);
  EXPECT_TRUE(found->matmul_tf32_tflops);
  EXPECT_TRUE(execute::run_trial(*executor, gpu_spec("clock=real"), {}));
}

TEST(WorkerOnGpu, no_driver_is_an_error_that_says_what_was_tried) {
  auto options = worker_options();
  options.environment = {{"LD_LIBRARY_PATH", "/nowhere"}};
  const auto found = execute::gpu_ceilings(*make_local_executor(options), "synthetic", "");
  if (found) GTEST_SKIP() << "a real driver is installed";
  EXPECT_EQ(found.error().code, base::ErrorCode::unavailable);
  EXPECT_NE(found.error().message.find("libcuda.so.1"), std::string::npos) << found.error().message;
}

}  // namespace
}  // namespace ridgeline::execute
