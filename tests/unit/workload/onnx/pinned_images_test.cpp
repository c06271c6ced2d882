// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/pinned_images.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "stream/image_pool.hpp"
#include "unit/gpu/fake_cuda_fixture.hpp"

namespace ridgeline::workload {
namespace {

using PinnedImagesTest = gpu::FakeCudaTest;

TEST_F(PinnedImagesTest, are_made_and_freed_by_threads_to_which_the_gpu_is_new) {
  const int before = live();
  std::shared_ptr<stream::Image> image;
  {
    stream::ImagePool pool;
    pool.set_memory(make_pinned_images(GpuSide::open({RL_TEST_FAKE_CUDA}).value()));
    std::thread([&] {
      image = pool.take();
      image->bytes.resize(100);
    }).join();
  }
  EXPECT_EQ(image->bytes.place(), stream::ImagePlace::page_locked);
  EXPECT_EQ(live() - before, 2) << "the memory, and the context that it needs to the end";
  std::thread([&] { image.reset(); }).join();
  EXPECT_EQ(live(), before);
}

TEST_F(PinnedImagesTest, are_on_the_heap_where_nothing_can_be_pinned) {
  stream::ImageBytes bytes(make_pinned_images(GpuSide::open({RL_TEST_FAKE_CUDA}).value()));
  set("fake_cuda_fail", 2);
  bytes.resize(100);
  EXPECT_EQ(bytes.place(), stream::ImagePlace::pageable);
  EXPECT_EQ(bytes[99], 0);
}

}  // namespace
}  // namespace ridgeline::workload
