// SPDX-License-Identifier: Apache-2.0
#include "gpu/ceilings_probe.hpp"

#include <gtest/gtest.h>

namespace ridgeline::gpu {
namespace {

constexpr int kCompute32F = 68;
constexpr int kComputePedantic32F = 69;
constexpr int kComputeFastTf32 = 77;

class CeilingsProbe : public ::testing::Test {
 protected:
  CeilingsProbe()
      : cuda_(base::DynamicLibrary::open({RL_TEST_FAKE_CUDA}).value()),
        cublas_(base::DynamicLibrary::open({RL_TEST_FAKE_CUBLAS}).value()),
        driver_(CudaDriver::load({RL_TEST_FAKE_CUDA}).value()) {
    set(cuda_, "fake_cuda_fail", 0);
    set(cublas_, "fake_cublas_refuse", 0);
  }
  static void set(const base::DynamicLibrary& library, const char* name, int value) {
    reinterpret_cast<void (*)(int)>(library.symbol(name))(value);
  }
  static int get(const base::DynamicLibrary& library, const char* name) {
    return reinterpret_cast<int (*)()>(library.symbol(name))();
  }
  int asked(int compute) const { return reinterpret_cast<int (*)(int)>(cublas_.symbol("fake_cublas_asked"))(compute); }

  base::DynamicLibrary cuda_;
  base::DynamicLibrary cublas_;
  std::shared_ptr<const CudaDriver> driver_;
};

// The fake's events are always 1.5 ms apart and 7000 bytes are free, of which a copy takes an eighth.
TEST_F(CeilingsProbe, divides_work_by_the_time_between_events) {
  const auto found = probe_ceilings(driver_, {RL_TEST_FAKE_CUBLAS});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_DOUBLE_EQ(found->copy_gb_per_s.value(), 2 * 875 / 1.5e6);
  EXPECT_DOUBLE_EQ(found->h2d_gb_per_s.value(), 875 / 1.5e6);
  EXPECT_DOUBLE_EQ(found->d2h_gb_per_s.value(), 875 / 1.5e6);
  EXPECT_GT(found->h2d_pageable_gb_per_s.value(), 0);
  EXPECT_GT(found->d2h_pageable_gb_per_s.value(), 0);
  EXPECT_DOUBLE_EQ(found->launch_us.value(), 1.5e3 / 2000);
  const double rows = asked(kComputeFastTf32);
  ASSERT_GT(rows, 0);
  EXPECT_DOUBLE_EQ(found->matmul_tf32_tflops.value(), 2 * rows * rows * rows / 1.5e9);
}

TEST_F(CeilingsProbe, asks_for_each_kind_of_arithmetic_by_its_own_compute_type) {
  set(cublas_, "fake_cublas_refuse", kComputePedantic32F);
  const auto found = probe_ceilings(driver_, {RL_TEST_FAKE_CUBLAS});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_FALSE(found->matmul_fp32_tflops);
  EXPECT_TRUE(found->matmul_tf32_tflops);
  EXPECT_TRUE(found->matmul_fp16_tflops);
  EXPECT_GT(asked(kCompute32F), 0);
}

TEST_F(CeilingsProbe, without_cublas_still_measures_copies) {
  const auto found = probe_ceilings(driver_, {"/nowhere/libcublas.so.13"});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->copy_gb_per_s);
  EXPECT_FALSE(found->matmul_fp16_tflops);
  EXPECT_TRUE(found->launch_us);
}

TEST_F(CeilingsProbe, gives_everything_back) {
  const int before = get(cuda_, "fake_cuda_live");
  ASSERT_TRUE(probe_ceilings(driver_, {RL_TEST_FAKE_CUBLAS}));
  EXPECT_EQ(get(cuda_, "fake_cuda_live"), before);
  EXPECT_EQ(get(cublas_, "fake_cublas_live"), 0);
}

TEST_F(CeilingsProbe, a_full_gpu_is_an_error_that_says_so) {
  set(cuda_, "fake_cuda_fail", 2);
  const auto found = probe_ceilings(driver_, {RL_TEST_FAKE_CUBLAS});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace ridgeline::gpu
