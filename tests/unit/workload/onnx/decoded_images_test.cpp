// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/decoded_images.hpp"

#include <cstring>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "unit/gpu/fake_cuda_fixture.hpp"
#include "workload/onnx/gpu_side.hpp"

namespace ridgeline::workload {
namespace {

using DecodedImagesTest = gpu::FakeCudaTest;

/// A frame of 4x2 with 6 bytes from row to row; the fake GPU's memory is the host's.
constexpr char kPlanes[] = "abcd--efgh--ijkl--";
stream::DeviceFrame frame() {
  const auto address = reinterpret_cast<std::uint64_t>(kPlanes);
  return {.width = 4, .height = 2, .luma = address, .chroma = address + 12, .luma_stride = 6, .chroma_stride = 6};
}

TEST_F(DecodedImagesTest, are_copies_without_padding_that_outlive_their_maker) {
  const int before = live();
  std::optional<stream::ImageBytes> bytes;
  {
    const auto images = make_decoded_images({RL_TEST_FAKE_CUDA}).value();
    EXPECT_NE(images->context(), nullptr);
    std::thread([&] { bytes = images->copy(frame()).value(); }).join();
  }
  EXPECT_EQ(bytes->place(), stream::ImagePlace::device);
  ASSERT_EQ(bytes->size(), 12U);
  EXPECT_EQ(std::memcmp(bytes->data(), "abcdefghijkl", 12), 0);
  std::thread([&] { bytes.reset(); }).join();
  EXPECT_EQ(live(), before);
}

TEST_F(DecodedImagesTest, use_the_memory_of_frames_that_nobody_holds) {
  const auto images = make_decoded_images({RL_TEST_FAKE_CUDA}).value();
  auto first = images->copy(frame());
  ASSERT_TRUE(first);
  const int with_one = live();
  *first = stream::ImageBytes();
  for (int again = 0; again < 5; ++again) {
    const auto next = images->copy(frame());
    ASSERT_TRUE(next);
    EXPECT_EQ(live(), with_one);
  }
}

TEST_F(DecodedImagesTest, tell_a_full_gpu_from_a_broken_one) {
  const auto images = make_decoded_images({RL_TEST_FAKE_CUDA}).value();
  set("fake_cuda_fail", 2);
  const auto full = images->copy(frame());
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, base::ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace ridgeline::workload
