// SPDX-License-Identifier: Apache-2.0
#include "loader/cache_state.hpp"

#include <gtest/gtest.h>

#include "fakes/temporary_folder.hpp"
#include "fakes/training_file.hpp"

namespace ridgeline::loader {
namespace {

LoaderStatistics read(std::uint64_t bytes, std::uint64_t cold_bytes, std::optional<double> resident) {
  LoaderStatistics statistics;
  statistics.total.read.tally = {bytes, cold_bytes};
  statistics.resident_at_start = resident;
  return statistics;
}

TEST(CacheState, is_told_from_what_lay_in_the_page_cache_and_what_had_to_wait) {
  EXPECT_EQ(cache_state({}, read(1000, 0, 1.0)), CacheState::warm);
  EXPECT_EQ(cache_state({}, read(1000, 10, 0.995)), CacheState::warm);
  EXPECT_EQ(cache_state({}, read(1000, 11, 1.0)), CacheState::mixed) << "thrown out meanwhile";
  EXPECT_EQ(cache_state({}, read(1000, 0, 0.98)), CacheState::mixed);
  EXPECT_EQ(cache_state({}, read(1000, 500, 0.2)), CacheState::mixed);
  EXPECT_EQ(cache_state({}, read(1000, 5, 0.1)), CacheState::cold) << "the kernel reads ahead";
  EXPECT_EQ(cache_state({}, read(1000, 0, std::nullopt)), CacheState::unknown);
  EXPECT_EQ(cache_state({}, read(0, 0, 0.0)), CacheState::decoded);
  EXPECT_DOUBLE_EQ(cold_share({}, read(1000, 250, 0.0)), 0.25);
  EXPECT_EQ(cold_share({}, {}), 0);
}

TEST(CacheState, counts_only_what_came_between_the_two_looks) {
  EXPECT_EQ(cache_state(read(1000, 1000, 0.0), read(2000, 1000, 1.0)), CacheState::warm);
  EXPECT_EQ(cache_state(read(1000, 500, 1.0), read(1000, 500, 1.0)), CacheState::decoded);
}

TEST(CacheState, a_second_epoch_from_decoded_chunks_reads_nothing) {
  const fakes::TemporaryFolder folder;
  fakes::write_training_file(folder / "data.h5", {.gzip = 1});
  LoaderOptions options;
  options.datasets = {"x"};
  options.layouts = LayoutCache("");
  const auto loader = Loader::open(folder / "data.h5", options, std::make_shared<HostAllocator>());
  ASSERT_TRUE(loader) << loader.error().message;
  const auto epoch = [&](std::uint64_t number) {
    const auto before = (*loader)->statistics();
    EXPECT_TRUE((*loader)->start_epoch(number));
    while (*(*loader)->next()) {
    }
    return cache_state(before, (*loader)->statistics());
  };
  EXPECT_NE(epoch(0), CacheState::decoded);
  const auto resident = (*loader)->statistics().resident_at_start;
  EXPECT_TRUE(!resident || (*resident >= 0 && *resident <= 1));
  EXPECT_EQ(epoch(1), CacheState::decoded);
}

}  // namespace
}  // namespace ridgeline::loader
