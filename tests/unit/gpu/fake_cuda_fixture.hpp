// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "gpu/cuda_driver.hpp"

namespace ridgeline::gpu {

/// tests/fakes/fake_cuda.c as the driver, in which nothing fails.
class FakeCudaTest : public ::testing::Test {
 protected:
  FakeCudaTest() : library_(base::DynamicLibrary::open({RL_TEST_FAKE_CUDA}).value()) {
    for (const char* failure : {"fake_cuda_init", "fake_cuda_fail", "fake_cuda_fail_launch"}) set(failure, 0);
  }
  template <typename Function>
  Function call(const char* name) const {
    return reinterpret_cast<Function>(library_.symbol(name));
  }
  void set(const char* name, int status) const { call<void (*)(int)>(name)(status); }
  int number(const char* name) const { return call<int (*)()>(name)(); }
  int live() const { return number("fake_cuda_live"); }
  static std::shared_ptr<const CudaDriver> load() { return CudaDriver::load({RL_TEST_FAKE_CUDA}).value(); }

  base::DynamicLibrary library_;
};

}  // namespace ridgeline::gpu
