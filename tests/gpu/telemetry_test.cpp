// SPDX-License-Identifier: Apache-2.0
// What NVML and the CUDA driver of this host say, against what is done to the GPU here.
#include "device_fixture.hpp"
#include "gpu/ceilings_probe.hpp"
#include "gpu/cuda_driver.hpp"
#include "gpu/telemetry_sampler.hpp"

namespace ridgeline::execute {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

TEST_F(DeviceTest, is_described) {
  EXPECT_FALSE(gpu_.name.empty());
  EXPECT_EQ(gpu_.uuid.rfind("GPU-", 0), 0U) << gpu_.uuid;
  EXPECT_GT(gpu_.memory_bytes, 1000 * kMiB);
  ASSERT_TRUE(gpu_.memory_free_bytes);
  EXPECT_LE(*gpu_.memory_free_bytes, gpu_.memory_bytes);
}

TEST_F(DeviceTest, memory_of_this_process_is_seen_and_given_back) {
  const auto api = gpu::NvmlApi::load();
  ASSERT_TRUE(api) << api.error().message;
  auto sampler = gpu::TelemetrySampler::make(*api, gpu_.uuid);
  ASSERT_TRUE(sampler) << sampler.error().message;
  // The driver reads it when it is initialized: afterwards device 0 is the one sampled.
  for (const auto& [name, value] : execute::gpu_environment(gpu_)) ::setenv(name.c_str(), value.c_str(), 1);
  const auto driver = gpu::CudaDriver::load();
  ASSERT_TRUE(driver) << driver.error().message;
  const auto context = gpu::PrimaryContext::retain(*driver, 0);
  ASSERT_TRUE(context && context->make_current());

  (*sampler)->begin_trial();
  {
    const auto buffer = gpu::DeviceBuffer::make(*driver, 512 * kMiB);
    ASSERT_TRUE(buffer) << buffer.error().message;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const auto record = (*sampler)->end_trial();
  ASSERT_TRUE(record.peak_bytes());
  EXPECT_GE(*record.peak_bytes(), 512 * kMiB);
  ASSERT_TRUE(record.memory_free_before_bytes && record.memory_free_after_bytes);
  EXPECT_GE(*record.memory_free_after_bytes, *record.memory_free_before_bytes - 32 * kMiB);
}

TEST_F(DeviceTrialTest, ceilings_are_those_of_a_gpu) {
  const auto found = execute::gpu_ceilings(*executor_, "onnx", "");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(found->copy_gb_per_s && found->h2d_gb_per_s && found->matmul_fp32_tflops && found->launch_us);
  EXPECT_GT(*found->copy_gb_per_s, 20);
  EXPECT_LT(*found->copy_gb_per_s, 50e3);
  EXPECT_LT(*found->h2d_gb_per_s, *found->copy_gb_per_s);
  EXPECT_GT(*found->matmul_fp32_tflops, 0.5);
  EXPECT_LT(*found->launch_us, 1000);
}

}  // namespace
}  // namespace ridgeline::execute
