// SPDX-License-Identifier: Apache-2.0
// A file that h5py 3.7 wrote (tests/data/hdf5/h5py.h5), with its own LZF filter; values are given by formulas.
#include <cstring>

#include <gtest/gtest.h>

#include "loader/dataset_reader.hpp"
#include "loader/hdf5_library.hpp"

namespace ridgeline::loader {
namespace {

template <typename T>
std::vector<T> read(const std::string& dataset, const std::string& type) {
  const auto path = std::filesystem::path(RL_TEST_DATA) / "hdf5/h5py.h5";
  const auto file = DataFile::open(path);
  const auto layout = inspect_dataset(path, dataset);
  if (!file || !layout) {
    ADD_FAILURE() << (layout ? "" : layout.error().message);
    return {};
  }
  EXPECT_EQ(layout->element.name(), type);
  EXPECT_NE(layout->storage, Storage::library);
  const auto reader = DatasetReader::open(*file, *layout, nullptr, 0);
  std::vector<std::byte> bytes(layout->rows() * layout->row_bytes());
  std::vector<RowRequest> requests;
  for (std::uint64_t row = 0; row < layout->rows(); ++row)
    requests.push_back({row, bytes.data() + row * layout->row_bytes()});
  ReadScratch scratch;
  ReadStatistics statistics;
  const auto done = (*reader)->read(requests, scratch, statistics);
  EXPECT_TRUE(done) << done.error().message;
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(H5pyFile, its_lzf_is_read) {
  const auto values = read<std::uint16_t>("lzf", "uint16");
  ASSERT_EQ(values.size(), 4000U);
  for (std::uint64_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i * i / 7 % 97) << i;
}

TEST(H5pyFile, its_shuffled_and_checked_big_endian_lzf_is_read) {
  const auto values = read<std::int32_t>("shuffled", "int32");
  ASSERT_EQ(values.size(), 4000U);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<std::int32_t>(i * 3 % 1009)) << i;
}

TEST(H5pyFile, its_halves_are_read) {
  const auto values = read<std::uint16_t>("half", "float16");
  ASSERT_EQ(values.size(), 4000U);
  EXPECT_EQ(values[0], 0x0000);
  EXPECT_EQ(values[4], 0x3C00);   // 1
  EXPECT_EQ(values[63], 0x4BE0);  // 15.75
  EXPECT_EQ(values[64], 0x0000);
}

TEST(H5pyFile, its_booleans_are_bytes) {
  const auto values = read<std::uint8_t>("flags", "int8");
  ASSERT_EQ(values.size(), 100U);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i % 3 == 0 ? 1 : 0);
}

}  // namespace
}  // namespace ridgeline::loader
