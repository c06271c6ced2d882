// SPDX-License-Identifier: Apache-2.0
#include "loader/row_cache.hpp"

#include <cstring>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/temporary_folder.hpp"
#include "fakes/training_file.hpp"
#include "loader/loader.hpp"

namespace ridgeline::loader {
namespace {

constexpr std::size_t kRow = 840;  // with the bookkeeping, 1000 bytes of the budget

void offer(RowCache& row_cache, unsigned row, std::uint64_t place, std::uint64_t floor = 0) {
  const std::vector<std::byte> bytes(kRow, static_cast<std::byte>(row));
  row_cache.offer(row, place, floor, bytes.data());
}

bool take(RowCache& row_cache, unsigned row) {
  std::vector<std::byte> bytes(kRow);
  if (!row_cache.take(row, bytes.data())) return false;
  EXPECT_EQ(bytes, std::vector<std::byte>(kRow, static_cast<std::byte>(row)));
  return true;
}

TEST(RowCache, gives_a_row_once) {
  RowCache row_cache(3000, kRow);
  offer(row_cache, 7, 100);
  EXPECT_TRUE(take(row_cache, 7));
  EXPECT_FALSE(take(row_cache, 7));
  EXPECT_EQ(row_cache.bytes(), 0U);
}

TEST(RowCache, keeps_those_wanted_soonest) {
  RowCache row_cache(3000, kRow);
  offer(row_cache, 1, 100);
  offer(row_cache, 2, 300);
  offer(row_cache, 3, 200);
  offer(row_cache, 4, 400);  // wanted last: not kept
  offer(row_cache, 5, 50);   // 2 goes
  EXPECT_EQ(row_cache.bytes(), 3000U);
  EXPECT_FALSE(take(row_cache, 4));
  EXPECT_FALSE(take(row_cache, 2));
  EXPECT_TRUE(take(row_cache, 1));
  EXPECT_TRUE(take(row_cache, 3));
  EXPECT_TRUE(take(row_cache, 5));
}

TEST(RowCache, rows_that_missed_their_turn_make_room_first) {
  RowCache row_cache(2000, kRow);
  offer(row_cache, 1, 10);
  offer(row_cache, 2, 20);
  offer(row_cache, 3, 500, 15);  // place 10 is over
  EXPECT_FALSE(take(row_cache, 1));
  EXPECT_TRUE(take(row_cache, 2));
  EXPECT_TRUE(take(row_cache, 3));
}

TEST(RowCache, no_room_at_all_is_fine) {
  RowCache row_cache(10, kRow);
  offer(row_cache, 1, 10);
  EXPECT_FALSE(take(row_cache, 1));
}

/// 20,000 shuffled samples in chunks of 64 with room for a tenth of them.
TEST(RowCache, a_chunk_decoded_once_serves_many_samples) {
  fakes::TemporaryFolder folder;
  fakes::write_training_file(folder / "data.h5", {.samples = 20000, .values = 250, .chunk_rows = 64, .gzip = 1});
  for (const unsigned workers : {0U, 3U}) {
    LoaderOptions options;
    options.datasets = {"x"};
    options.workers = workers;
    options.batch_size = 100;
    options.cache_bytes = 20000 * 1000 / 10;
    options.layouts = LayoutCache("");
    const auto loader = Loader::open(folder / "data.h5", options, std::make_shared<HostAllocator>());
    ASSERT_TRUE(loader) << loader.error().message;
    const auto order = Sampler::make(20000, 64, options.sampler)->epoch(4);
    ASSERT_TRUE((*loader)->start_epoch(4));
    for (std::uint64_t place = 0;;) {
      auto batch = (*loader)->next();
      ASSERT_TRUE(batch);
      if (!*batch) break;
      for (std::uint64_t i = 0; i < (*batch)->samples(); ++i, ++place) {
        std::int32_t value = 0;
        std::memcpy(&value, (*batch)->data(0).data() + i * 1000, sizeof value);
        ASSERT_EQ(value, static_cast<std::int32_t>(order[place] * 1000));
      }
      ASSERT_LE((*loader)->statistics().cached_bytes, options.cache_bytes);
    }
    const auto read = (*loader)->statistics().total.read;
    EXPECT_LT(read.chunks_decoded, 20000U / 5) << "each decoded chunk serves fewer than five samples";
    EXPECT_EQ(read.bytes_delivered, 20000U * 1000);
  }
}

}  // namespace
}  // namespace ridgeline::loader
