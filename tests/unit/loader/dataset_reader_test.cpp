// SPDX-License-Identifier: Apache-2.0
#include "loader/dataset_reader.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "fakes/temporary_folder.hpp"
#include "fakes/training_file.hpp"

namespace ridgeline::loader {
namespace {

TEST(DatasetReader, does_other_chunks_first_while_another_thread_decodes_one) {
  const fakes::TemporaryFolder folder;
  fakes::write_training_file(folder / "data.h5", {.samples = 64, .gzip = 1});  // 4 chunks of 16 rows
  const auto file = DataFile::open(folder / "data.h5");
  const auto layout = inspect_dataset(folder / "data.h5", "x");
  ASSERT_TRUE(file && layout);
  ChunkCache cache(1U << 20U, layout->chunk_bytes());
  const auto reader = DatasetReader::open(*file, *layout, &cache, 0);
  ASSERT_TRUE(reader);

  std::promise<void> making;
  std::promise<void> go_on;
  auto released = go_on.get_future();
  std::thread slow([&] {
    const auto made = cache.get(0, 1, [&]() -> base::Result<ChunkPointer> {
      making.set_value();
      released.wait();
      auto chunk = std::make_shared<DecodedChunk>(layout->chunk_bytes());
      std::memset(chunk->bytes().data(), 7, chunk->bytes().size());
      return ChunkPointer(std::move(chunk));
    });
    EXPECT_TRUE(made);
  });
  making.get_future().wait();

  std::vector<std::byte> out(layout->rows() * layout->row_bytes());
  std::thread reading([&] {
    std::vector<RowRequest> requests;
    for (std::uint64_t row = 0; row < layout->rows(); ++row)
      requests.push_back({row, out.data() + row * layout->row_bytes()});
    ReadScratch scratch;
    ReadStatistics statistics;
    EXPECT_TRUE((*reader)->read(requests, scratch, statistics));
    EXPECT_EQ(statistics.chunks_decoded, 3U);
    EXPECT_EQ(statistics.chunk_cache_hits, 1U);
  });
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (cache.bytes() < 3 * layout->chunk_bytes() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(cache.bytes(), 3 * layout->chunk_bytes()) << "the other three chunks, while the first is in the making";
  go_on.set_value();
  slow.join();
  reading.join();
  EXPECT_EQ(out[0], std::byte{7}) << "the chunk of the other thread";
  std::int32_t value = 0;
  std::memcpy(&value, out.data() + 63 * layout->row_bytes(), sizeof value);
  EXPECT_EQ(value, 63'000);
}

TEST(DatasetReader, few_small_rows_are_read_once_and_then_come_from_memory) {
  const fakes::TemporaryFolder folder;
  fakes::write_training_file(folder / "data.h5", {.samples = 10'000});
  const auto file = DataFile::open(folder / "data.h5");
  const auto layout = inspect_dataset(folder / "data.h5", "y");
  ASSERT_TRUE(file && layout);
  const auto reader = DatasetReader::open(*file, *layout, nullptr, 0);
  ASSERT_TRUE(reader);
  ASSERT_TRUE((*reader)->is_small());
  (*reader)->keep_all_rows();
  std::array<ReadStatistics, 4> statistics;
  std::vector<std::thread> threads;
  for (auto& mine : statistics)
    threads.emplace_back([&reader, &mine] {
      ReadScratch scratch;
      for (std::uint64_t i = 0; i < 10'000; ++i) {
        const auto row = i * 7919 % 10'000;
        std::int64_t value = 0;
        const RowRequest request{row, reinterpret_cast<std::byte*>(&value)};
        EXPECT_TRUE((*reader)->read({&request, 1}, scratch, mine));
        EXPECT_EQ(value, static_cast<std::int64_t>(row * 7));
      }
    });
  for (auto& thread : threads) thread.join();
  ReadStatistics total;
  for (const auto& one : statistics) total += one;
  EXPECT_EQ(total.tally.bytes, 80'000U);
  EXPECT_EQ(total.bytes_delivered, 4 * 80'000U);
}

TEST(DatasetReader, many_or_large_rows_are_not_small) {
  const fakes::TemporaryFolder folder;
  fakes::write_training_file(folder / "large.h5", {.samples = 16, .values = 1024});
  fakes::write_training_file(folder / "many.h5", {.samples = 16, .labels = 3'000'000});
  for (const auto& [name, dataset] : {std::pair{"large.h5", "x"}, std::pair{"many.h5", "y"}}) {
    const auto file = DataFile::open(folder / name);
    const auto layout = inspect_dataset(folder / name, dataset);
    ASSERT_TRUE(file && layout);
    EXPECT_FALSE((*DatasetReader::open(*file, *layout, nullptr, 0))->is_small()) << name;
  }
}

}  // namespace
}  // namespace ridgeline::loader
