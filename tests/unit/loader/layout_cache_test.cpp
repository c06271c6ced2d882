// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "fakes/hdf5_files.hpp"
#include "fakes/temporary_folder.hpp"
#include "loader/layout_reader.hpp"

namespace ridgeline::loader {
namespace {

class LayoutCacheTest : public ::testing::Test {
 protected:
  LayoutCacheTest() {
    fakes::Hdf5Case c;
    c.chunk = {3, 3, 4};
    c.filters = "sg";
    fakes::write_hdf5(path_, c);
  }
  [[nodiscard]] DataFile file() const { return *DataFile::open(path_); }
  [[nodiscard]] base::ErrorCode code() const { return cache_.find(file(), "x").error().code; }

  fakes::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "data.h5";
  LayoutCache cache_{folder_ / "cache"};
};

TEST_F(LayoutCacheTest, keeps_a_layout_and_finds_it_again) {
  EXPECT_EQ(code(), base::ErrorCode::not_found);
  const auto layout = read_layout(file(), "x", cache_);
  ASSERT_TRUE(layout);
  const auto kept = cache_.find(file(), "x");
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(*kept, *layout);
  EXPECT_EQ(cache_.find(file(), "y").error().code, base::ErrorCode::not_found);
}

TEST_F(LayoutCacheTest, answers_without_the_library_once_it_is_filled) {
  ASSERT_TRUE(read_layout(file(), "x", cache_));
  const auto opened = file();
  const auto entry = cache_.entry(opened, "x");
  const auto before = std::filesystem::last_write_time(entry);
  ASSERT_TRUE(read_layout(opened, "x", cache_));
  EXPECT_EQ(std::filesystem::last_write_time(entry), before);
}

TEST_F(LayoutCacheTest, another_state_of_the_file_is_read_anew) {
  ASSERT_TRUE(read_layout(file(), "x", cache_));
  fakes::Hdf5Case other;
  other.chunk = {5, 3, 2};
  fakes::write_hdf5(path_, other);
  EXPECT_EQ(code(), base::ErrorCode::not_found);
  const auto layout = read_layout(file(), "x", cache_);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->chunk_shape, (std::vector<std::uint64_t>{5, 3, 2}));
  std::filesystem::last_write_time(path_, std::filesystem::last_write_time(path_) + std::chrono::seconds(1));
  EXPECT_EQ(code(), base::ErrorCode::not_found);
}

TEST_F(LayoutCacheTest, a_damaged_entry_is_never_trusted) {
  const auto layout = read_layout(file(), "x", cache_);
  const auto entry = cache_.entry(file(), "x");
  const auto bytes = *base::read_file(entry);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    std::ofstream(entry, std::ios::binary) << damaged;
    ASSERT_FALSE(cache_.find(file(), "x")) << at;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, bytes.size() / 2, bytes.size() - 1}) {
    std::ofstream(entry, std::ios::binary) << bytes.substr(0, size);
    ASSERT_FALSE(cache_.find(file(), "x")) << size;
  }
  EXPECT_EQ(*read_layout(file(), "x", cache_), *layout);  // rebuilt
  EXPECT_EQ(*base::read_file(entry), bytes);
}

TEST_F(LayoutCacheTest, a_folder_that_cannot_be_written_is_no_error) {
  std::ofstream(folder_ / "file") << "in the way";
  EXPECT_TRUE(read_layout(file(), "x", LayoutCache(folder_ / "file" / "below")));
  EXPECT_TRUE(read_layout(file(), "x", LayoutCache("")));
}

}  // namespace
}  // namespace ridgeline::loader
