// SPDX-License-Identifier: Apache-2.0
#include "loader/chunk_cache.hpp"

#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

namespace ridgeline::loader {
namespace {

ChunkCache::Make chunk_of(std::size_t size, std::atomic<int>& made) {
  return [size, &made]() -> base::Result<ChunkPointer> {
    ++made;
    return std::make_shared<DecodedChunk>(size);
  };
}

TEST(ChunkCache, gives_up_the_chunk_that_is_wanted_last) {
  ChunkCache cache(30, 10);
  std::atomic<int> made{0};
  ASSERT_TRUE(cache.get(1, 100, chunk_of(10, made)));
  ASSERT_TRUE(cache.get(2, 900, chunk_of(10, made)));
  ASSERT_TRUE(cache.get(3, 200, chunk_of(10, made)));
  ASSERT_TRUE(cache.get(4, 300, chunk_of(10, made)));  // 2 goes
  EXPECT_EQ(cache.bytes(), 30U);
  EXPECT_TRUE(cache.get(1, 950, chunk_of(10, made))->hit);
  EXPECT_TRUE(cache.get(3, 960, chunk_of(10, made))->hit);
  EXPECT_EQ(made, 4);
  EXPECT_FALSE(cache.get(2, 990, chunk_of(10, made))->hit);  // wanted later than all others: not kept at all
  EXPECT_FALSE(cache.get(2, 990, chunk_of(10, made))->hit);
  EXPECT_TRUE(cache.get(1, 950, chunk_of(10, made))->hit);
}

TEST(ChunkCache, a_failure_is_passed_on_and_tried_again) {
  ChunkCache cache(30, 10);
  std::atomic<int> made{0};
  const auto broken = [&]() -> base::Result<ChunkPointer> {
    ++made;
    return base::fail(base::ErrorCode::corrupt, "broken");
  };
  EXPECT_EQ(cache.get(1, 5, broken).error().message, "broken");
  EXPECT_EQ(cache.get(1, 5, broken).error().message, "broken");
  EXPECT_EQ(made, 2);
}

TEST(ChunkCache, makes_a_chunk_once_for_all_who_want_it) {
  ChunkCache cache(1U << 20U, 16);
  std::atomic<int> made{0};
  std::atomic<int> hits{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t key = 0; key < 500; ++key)
        if (const auto found = cache.get(key, key, chunk_of(16, made)); found && found->hit) ++hits;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(made, 500);
  EXPECT_EQ(hits, 1500);
  EXPECT_EQ(cache.bytes(), 500U * 16);
}

TEST(ChunkCache, stays_within_its_budget_under_many_threads) {
  ChunkCache cache(64 * 100, 64);
  std::atomic<int> made{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 3000; ++i) {
        ASSERT_TRUE(cache.get((i * 7919 + t * 31) % 400, i, chunk_of(64, made)));
        if (cache.bytes() > 64 * 104) over = true;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(over);  // the budget and one chunk a thread
}

}  // namespace
}  // namespace ridgeline::loader
