// SPDX-License-Identifier: Apache-2.0
#include "gpu/several_streams.hpp"

#include <gtest/gtest.h>

namespace ridgeline::gpu {
namespace {

class SeveralStreamsTest : public ::testing::Test {
 protected:
  SeveralStreamsTest() : library_(base::DynamicLibrary::open({RL_TEST_FAKE_CUDA}).value()) {
    call<void (*)(int)>("fake_cuda_init")(0);
    call<void (*)(int)>("fake_cuda_fail")(0);
    call<void (*)(int)>("fake_cuda_fail_launch")(0);
    driver_ = CudaDriver::load({RL_TEST_FAKE_CUDA}).value();
  }
  ~SeveralStreamsTest() override { call<void (*)(int)>("fake_cuda_fail_launch")(0); }
  template <typename Function>
  Function call(const char* name) const {
    return reinterpret_cast<Function>(library_.symbol(name));
  }
  int number(const char* name) const { return call<int (*)()>(name)(); }

  base::DynamicLibrary library_;
  std::shared_ptr<const CudaDriver> driver_;
};

// Whichever stream the process works on mainly: the driver changed its ways with the eighth kernel beside that.
TEST_F(SeveralStreamsTest, launches_more_than_eight_kernels_beside_any_one_stream_and_keeps_nothing) {
  const int launched = number("fake_cuda_launches");
  const int turned = number("fake_cuda_turns");
  const int live = number("fake_cuda_live");
  ASSERT_TRUE(use_several_streams(driver_));
  EXPECT_GE(number("fake_cuda_launches") - launched, 2 * 9);
  EXPECT_GE(number("fake_cuda_turns") - turned, 2 * 9 - 1) << "the streams take turns";
  EXPECT_EQ(number("fake_cuda_live"), live);
}

TEST_F(SeveralStreamsTest, says_what_failed) {
  const int live = number("fake_cuda_live");
  call<void (*)(int)>("fake_cuda_fail_launch")(2);
  const auto done = use_several_streams(driver_);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "working on several streams: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
  EXPECT_EQ(number("fake_cuda_live"), live);
}

}  // namespace
}  // namespace ridgeline::gpu
