// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "unit/workload/temp_folder.hpp"
#include "workload/workload.hpp"

namespace ridgeline::workload {
namespace {

OutputSet sample() {
  return {{"y", "float", {1, 2}, std::string("\0\1\2\3\4\5\6\7", 8)},
          {"", "bool", {}, "\1"},
          {"empty", "int64", {0, 3}, ""},
          {"random", "float", {1}, "1234", OutputSpread{{0.5, 2}, {1, 2, 3, 4, 5, 6}}}};
}

TEST(Outputs, what_is_saved_is_loaded) {
  const TempFolder folder;
  const auto path = folder / "reference.bin";
  ASSERT_TRUE(save_outputs(sample(), path));
  const auto loaded = load_outputs(path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->size(), 4U);
  for (std::size_t at = 0; at < 4; ++at) {
    EXPECT_EQ((*loaded)[at].name, sample()[at].name);
    EXPECT_EQ((*loaded)[at].element_type, sample()[at].element_type);
    EXPECT_EQ((*loaded)[at].dims, sample()[at].dims);
    EXPECT_EQ((*loaded)[at].bytes, sample()[at].bytes);
    ASSERT_EQ((*loaded)[at].spread.has_value(), at == 3);
    if (at < 3) continue;
    EXPECT_EQ((*loaded)[at].spread->centre, sample()[at].spread->centre);
    EXPECT_EQ((*loaded)[at].spread->calls, sample()[at].spread->calls);
  }
}

TEST(Outputs, every_changed_byte_and_every_cut_is_noticed) {
  const TempFolder folder;
  const auto path = folder / "reference.bin";
  ASSERT_TRUE(save_outputs(sample(), path));
  const auto bytes = base::read_file(path).value();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    const auto loaded = load_outputs(folder.write("changed.bin", changed));
    ASSERT_FALSE(loaded) << at;
    EXPECT_EQ(loaded.error().code, base::ErrorCode::corrupt) << at;
    EXPECT_FALSE(load_outputs(folder.write("cut.bin", bytes.substr(0, at)))) << at;
  }
  EXPECT_FALSE(load_outputs(folder.write("longer.bin", bytes + "x")));
}

TEST(Outputs, a_missing_file_is_not_found) {
  const TempFolder folder;
  EXPECT_EQ(load_outputs(folder / "none.bin").error().code, base::ErrorCode::not_found);
}

}  // namespace
}  // namespace ridgeline::workload
