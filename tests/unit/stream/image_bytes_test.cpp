// SPDX-License-Identifier: Apache-2.0
#include "stream/image_bytes.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "stream/image_pool.hpp"

namespace ridgeline::stream {
namespace {

/// A memory of so many blocks.
class FewBlocks final : public ImageMemory {
 public:
  explicit FewBlocks(int blocks) : left_(blocks) {}
  [[nodiscard]] ImagePlace place() const noexcept override { return ImagePlace::page_locked; }
  [[nodiscard]] std::shared_ptr<std::uint8_t> allocate(std::size_t bytes) override {
    if (left_ == 0) return nullptr;
    --left_;
    return {static_cast<std::uint8_t*>(std::malloc(bytes)), std::free};
  }

 private:
  int left_;
};

TEST(ImageBytes, grow_like_a_vector_and_keep_their_memory) {
  ImageBytes bytes(std::vector<std::uint8_t>{1, 2, 3});
  bytes.resize(5);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{1, 2, 3, 0, 0}));
  const auto* memory = bytes.data();
  bytes.resize(2);
  bytes.resize(4);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{1, 2, 0, 0}));
  EXPECT_EQ(bytes.data(), memory);
  EXPECT_EQ(bytes.place(), ImagePlace::pageable);
}

TEST(ImageBytes, use_the_memory_that_is_named_and_the_heap_behind_it) {
  const auto memory = std::make_shared<FewBlocks>(1);
  ImageBytes first(memory);
  ImageBytes second(memory);
  first.assign(10, 7);
  second.assign(10, 8);
  EXPECT_EQ(first.place(), ImagePlace::page_locked);
  EXPECT_EQ(second.place(), ImagePlace::pageable);
  first.resize(20);
  EXPECT_EQ(first.place(), ImagePlace::pageable);
  EXPECT_EQ(first[9], 7);
  EXPECT_EQ(first[10], 0);
}

TEST(ImageBytes, a_copy_is_on_the_heap_and_a_move_takes_the_memory_along) {
  const auto memory = std::make_shared<FewBlocks>(2);
  ImageBytes first(memory);
  first.assign(10, 7);
  const auto* data = first.data();
  const ImageBytes copy = first;
  EXPECT_EQ(copy, first);
  EXPECT_NE(copy.data(), data);
  EXPECT_EQ(copy.place(), ImagePlace::pageable);
  const ImageBytes moved = std::move(first);
  EXPECT_EQ(moved.data(), data);
  EXPECT_EQ(moved.place(), ImagePlace::page_locked);
}

TEST(ImageBytes, of_a_device_are_left_behind_when_they_are_used_again) {
  std::uint8_t on_device[4] = {1, 2, 3, 4};
  ImageBytes bytes(std::shared_ptr<std::uint8_t>(on_device, [](std::uint8_t*) {}), sizeof on_device,
                   ImagePlace::device);
  EXPECT_EQ(bytes.place(), ImagePlace::device);
  bytes.resize(2);
  EXPECT_EQ(bytes.place(), ImagePlace::pageable);
  EXPECT_NE(bytes.data(), on_device);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0, 0}));
}

TEST(ImagePool, gives_pictures_of_the_memory_that_is_set) {
  ImagePool pool;
  const auto* before = pool.take().get();  // and back
  pool.set_memory(std::make_shared<FewBlocks>(1));
  const auto image = pool.take();
  (void)before;
  image->bytes.resize(12);
  EXPECT_EQ(image->bytes.place(), ImagePlace::page_locked);
}

}  // namespace
}  // namespace ridgeline::stream
