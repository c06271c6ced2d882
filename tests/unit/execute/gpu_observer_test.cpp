// SPDX-License-Identifier: Apache-2.0
#include "execute/gpu_observer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "fakes/fake_nvml.hpp"
#include "fakes/words.hpp"
#include "schema/execution_provider.hpp"

namespace ridgeline::execute {
namespace {

schema::TrialSpec gpu_spec(const std::string& device = "gpu:GPU-fake-0") {
  schema::TrialSpec spec;
  spec.provider = "cuda";
  spec.device = device;
  return spec;
}

bool has_flag(const schema::Measurement& measurement, std::string_view code) {
  return std::any_of(measurement.flags.begin(), measurement.flags.end(),
                     [&](const auto& flag) { return flag.code == code; });
}

class GpuObserverTest : public ::testing::Test {
 protected:
  /// Until the sampler's thread has looked twice more.
  void let_it_sample() {
    const auto from = nvml_.get(kFakeMemoryCalls);
    const auto until = base::system_clock().now() + std::chrono::seconds(10);
    while (nvml_.get(kFakeMemoryCalls) < from + 3 && base::system_clock().now() < until)
      base::system_clock().sleep_for(std::chrono::milliseconds(1));
  }
  fakes::FakeNvml nvml_{RL_TEST_FAKE_NVML};
  GpuObserver observer_{{RL_TEST_FAKE_NVML}};
};

TEST_F(GpuObserverTest, puts_memory_and_telemetry_into_the_measurement) {
  observer_.begin(gpu_spec());
  ASSERT_NE(observer_.watch(), nullptr);
  nvml_.set(kFakeOwnPid, ::getpid());
  nvml_.set(kFakeOwnMemory, 6'500'000'000);
  let_it_sample();
  schema::Measurement measurement;
  observer_.end(measurement);
  EXPECT_EQ(observer_.watch(), nullptr);
  ASSERT_TRUE(measurement.gpu.has_value());
  EXPECT_EQ(measurement.gpu->uuid, "GPU-fake-0");
  EXPECT_DOUBLE_EQ(measurement.metrics.at("gpu_memory_gb"), 6.5);
  EXPECT_EQ(measurement.metrics.count("gpu_energy_mj_per_item"), 0U) << "nothing was timed";
  EXPECT_TRUE(measurement.flags.empty());
}

TEST_F(GpuObserverTest, tells_how_busy_the_gpu_was_where_the_card_counts_it) {
  for (const bool counts : {false, true}) {
    nvml_.set(kFakeGpm, counts ? 1 : 0);
    GpuObserver observer{{RL_TEST_FAKE_NVML}};
    observer.begin(gpu_spec());
    auto* const watch = observer.watch();
    ASSERT_NE(watch, nullptr);
    watch->begin_timing();
    for (int part = 0; part < 2; ++part) {
      watch->begin_part();
      base::system_clock().sleep_for(std::chrono::milliseconds(210));
      static_cast<void>(watch->end_part());
    }
    watch->begin_part();
    watch->end_timing({1, 0.42, 0, 0});
    schema::Measurement measurement;
    observer.end(measurement);
    ASSERT_TRUE(measurement.gpu);
    EXPECT_EQ(measurement.gpu->busy.has_value(), counts);
    EXPECT_NEAR(measurement.gpu->busy.value_or(0.61), 0.61, 0.05) << "what the fake library counts";
  }
}

TEST_F(GpuObserverTest, takes_the_memory_without_the_worker_for_the_start_of_every_trial) {
  for (int trial = 0; trial < 2; ++trial) {  // the second begins beside the context that the first has left
    observer_.begin(gpu_spec());
    nvml_.set(kFakeMemoryUsed, 2'500'000'000);
    let_it_sample();
    schema::Measurement measurement;
    observer_.end(measurement);
    EXPECT_DOUBLE_EQ(measurement.metrics.at("gpu_memory_gb"), 2.0) << trial;
    nvml_.set(kFakeMemoryUsed, 1'075'000'000);
  }
}

TEST_F(GpuObserverTest, knows_the_processes_that_work_for_it_one_after_another) {
  auto spec = gpu_spec();
  spec.provider = schema::torch_providers().back().id;
  for (const std::int64_t pid : {static_cast<std::int64_t>(::getppid()), std::int64_t{1}}) {
    nvml_.set(kFakeOwnPid, 0);
    observer_.begin(spec);
    nvml_.set(kFakeOwnPid, pid);
    nvml_.set(kFakeOwnMemory, 1'500'000'000);
    observer_.add_worker(pid);
    let_it_sample();
    schema::Measurement measurement;
    observer_.end(measurement);
    EXPECT_DOUBLE_EQ(measurement.metrics.at("gpu_memory_gb"), 1.5) << pid;
    EXPECT_FALSE(has_flag(measurement, "gpu_memory_of_device")) << pid;
  }
}

TEST_F(GpuObserverTest, says_when_memory_is_the_devices) {
  observer_.begin(gpu_spec());
  nvml_.set(kFakeMemoryUsed, 2'500'000'000);
  let_it_sample();
  schema::Measurement measurement;
  observer_.end(measurement);
  EXPECT_DOUBLE_EQ(measurement.metrics.at("gpu_memory_gb"), 2.0);
  EXPECT_TRUE(has_flag(measurement, "gpu_memory_of_device"));
}

TEST_F(GpuObserverTest, leaves_cpu_trials_alone) {
  schema::TrialSpec spec;
  spec.provider = "cpu";
  spec.device = "cpu:some/8";
  observer_.begin(spec);
  EXPECT_EQ(observer_.watch(), nullptr);
  schema::Measurement measurement;
  observer_.end(measurement);
  EXPECT_FALSE(measurement.gpu.has_value());
  EXPECT_TRUE(measurement.flags.empty());
}

TEST_F(GpuObserverTest, says_why_a_gpu_is_not_observed) {
  for (auto& [observer, device, words] :
       std::vector<std::tuple<std::shared_ptr<GpuObserver>, std::string, std::string>>{
           {std::make_shared<GpuObserver>(std::vector<std::string>{"/nowhere/libnvidia-ml.so.1"}), "gpu:GPU-fake-0",
            "/nowhere/libnvidia-ml.so.1"},
           {std::make_shared<GpuObserver>(std::vector<std::string>{RL_TEST_FAKE_NVML}), "gpu:GPU-gone", "GPU-gone"},
           {std::make_shared<GpuObserver>(std::vector<std::string>{RL_TEST_FAKE_NVML}), "gpu:", "UUID"}}) {
    observer->begin(gpu_spec(device));
    EXPECT_EQ(observer->watch(), nullptr);
    schema::Measurement measurement;
    observer->end(measurement);
    ASSERT_EQ(measurement.flags.size(), 1U);
    EXPECT_EQ(measurement.flags[0].code, "gpu_unobserved");
    EXPECT_NE(fakes::text_of(measurement.flags[0].message).find(words), std::string::npos)
        << fakes::text_of(measurement.flags[0].message);
  }
}

TEST_F(GpuObserverTest, starts_afresh_after_a_trial_that_failed) {
  observer_.begin(gpu_spec());
  nvml_.set(kFakeMemoryUsed, 90'000'000'000);
  let_it_sample();
  const auto failed = observer_.take();
  EXPECT_EQ(observer_.watch(), nullptr);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->memory_free_before_bytes, 99'500'000'000);
  EXPECT_EQ(failed->device_peak_bytes, 90'000'000'000);
  EXPECT_FALSE(observer_.take()) << "taken once";
  nvml_.set(kFakeMemoryUsed, 1'000'000'000);
  observer_.begin(gpu_spec());
  nvml_.set(kFakeMemoryUsed, 2'000'000'000);
  let_it_sample();
  schema::Measurement measurement;
  observer_.end(measurement);
  EXPECT_EQ(measurement.gpu->device_peak_bytes, 2'000'000'000);
  EXPECT_DOUBLE_EQ(measurement.metrics.at("gpu_memory_gb"), 1.5) << "over the 0.5 GB from before the worker came";
}

}  // namespace
}  // namespace ridgeline::execute
