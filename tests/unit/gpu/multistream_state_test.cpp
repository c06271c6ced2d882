// SPDX-License-Identifier: Apache-2.0
#include "gpu/multistream_state.hpp"

#include "fake_cuda_fixture.hpp"

namespace ridgeline::gpu {
namespace {

using SeveralStreamsTest = FakeCudaTest;

// Whichever stream the process works on mainly: the driver changed its ways with the eighth kernel beside that.
TEST_F(SeveralStreamsTest, launches_more_than_eight_kernels_beside_any_one_stream_and_keeps_nothing) {
  const int launched = number("fake_cuda_launches");
  const int turned = number("fake_cuda_turns");
  const int before = live();
  ASSERT_TRUE(enter_multistream_state(load()));
  EXPECT_GE(number("fake_cuda_launches") - launched, 2 * 9);
  EXPECT_GE(number("fake_cuda_turns") - turned, 2 * 9 - 1) << "the streams take turns";
  EXPECT_EQ(live(), before);
}

TEST_F(SeveralStreamsTest, says_what_failed) {
  const int before = live();
  set("fake_cuda_fail_launch", 2);
  const auto done = enter_multistream_state(load());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "working on several streams: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
  EXPECT_EQ(live(), before);
}

}  // namespace
}  // namespace ridgeline::gpu
