// SPDX-License-Identifier: Apache-2.0
#include "loader/page_cache.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "fakes/temporary_folder.hpp"
#include "loader/data_file.hpp"

namespace ridgeline::loader {
namespace {

TEST(PageCache, a_file_just_written_is_there) {
  fakes::TemporaryFolder folder;
  std::ofstream(folder / "f", std::ios::binary) << std::string(1U << 20U, 'x');
  const auto share = resident_share(folder / "f");
  ASSERT_TRUE(share) << share.error().message;
  EXPECT_DOUBLE_EQ(*share, 1);
  std::ofstream(folder / "empty");
  EXPECT_DOUBLE_EQ(*resident_share(folder / "empty"), 1);
}

TEST(PageCache, a_file_never_touched_is_not) {
  fakes::TemporaryFolder folder;
  std::ofstream(folder / "sparse").put('x');
  std::filesystem::resize_file(folder / "sparse", 4U << 20U);  // pages of a hole are in no cache until they are read
  const auto share = resident_share(folder / "sparse");
  ASSERT_TRUE(share);
  EXPECT_LT(*share, 0.1);
}

TEST(PageCache, a_look_at_some_places_of_a_half_read_file_says_half) {
  fakes::TemporaryFolder folder;
  std::ofstream(folder / "half", std::ios::binary) << std::string(16U << 20U, 'x');
  std::filesystem::resize_file(folder / "half", (32U << 20U) + 1);  // an odd last page
  const auto file = DataFile::open(folder / "half");
  ASSERT_TRUE(file);
  const auto looked = resident_share(*file);
  ASSERT_TRUE(looked) << looked.error().message;
  EXPECT_NEAR(*looked, 0.5, 0.01);
  EXPECT_NEAR(*resident_share(folder / "half"), 0.5, 0.01);
}

TEST(PageCache, asking_names_a_missing_file) {
  EXPECT_EQ(resident_share("/nonexistent/f").error().message, "cannot open /nonexistent/f: No such file or directory");
  EXPECT_EQ(DataFile::open("/dev/null").error().code, base::ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ridgeline::loader
