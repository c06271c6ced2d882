// SPDX-License-Identifier: Apache-2.0
#include "loader/dataset_reader.hpp"

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

}  // namespace
}  // namespace ridgeline::loader
