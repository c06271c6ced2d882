// SPDX-License-Identifier: Apache-2.0
// Our reading against H5Dread over a few hundred generated files.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "fakes/hdf5_files.hpp"
#include "fakes/temporary_folder.hpp"
#include "loader/dataset_reader.hpp"
#include "loader/layout_reader.hpp"

namespace ridgeline::loader {
namespace {

class Corpus : public ::testing::Test {
 protected:
  /// All rows in the order of `rows`, each to its own place.
  static base::Result<std::vector<std::byte>> read_rows(const DatasetReader& reader, std::vector<std::uint64_t> rows) {
    const auto bytes = reader.layout().row_bytes();
    std::vector<std::byte> out(reader.layout().rows() * bytes, std::byte{0xEE});
    std::sort(rows.begin(), rows.end());
    std::vector<RowRequest> requests;
    for (const auto row : rows) requests.push_back({row, out.data() + row * bytes});
    ReadScratch scratch;
    ReadStatistics statistics;
    RL_TRY(reader.read(requests, scratch, statistics));
    return out;
  }

  fakes::TemporaryFolder folder_;
};

TEST_F(Corpus, every_file_reads_byte_for_byte_as_the_library_reads_it) {
  const auto cases = fakes::hdf5_corpus();
  ASSERT_GE(cases.size(), 200U);
  std::map<std::string, int> ways;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& c = cases[i];
    SCOPED_TRACE(c.name);
    const auto path = folder_ / "case.h5";
    fakes::write_hdf5(path, c);
    const auto expected = fakes::read_with_library(path);
    const auto file = DataFile::open(path);
    ASSERT_TRUE(file) << file.error().message;
    // Every tenth through the child process; the others directly, which is faster and shows where a test crashes.
    const auto layout = i % 10 == 0 ? inspect_in_child(path, "x") : inspect_dataset(path, "x");
    ASSERT_TRUE(layout) << layout.error().message;
    ASSERT_EQ(layout->rows() * layout->row_bytes(), expected.size());
    if (layout->storage == Storage::chunked) {
      EXPECT_EQ(layout->library_reason, "");  // every index by ourselves
    }
    ++ways[std::string(base::enum_name(layout->storage))];
    ChunkCache cache(i % 3 == 0 ? 0 : i % 3 == 1 ? 3000 : 1U << 20U, layout->chunk_bytes());
    const auto reader = DatasetReader::open(*file, *layout, i % 4 == 3 ? nullptr : &cache, 1);
    ASSERT_TRUE(reader) << reader.error().message;
    if (i % 5 == 2) (*reader)->keep_all_rows();
    std::vector<std::uint64_t> rows(layout->rows());
    std::iota(rows.begin(), rows.end(), std::uint64_t{0});
    const auto all = read_rows(**reader, rows);
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_TRUE(*all == expected);
    // Some rows alone: each right, and nothing written where no row was asked for.
    base::Random random(i);
    rows.erase(std::remove_if(rows.begin(), rows.end(), [&](std::uint64_t) { return random.below(3) != 0; }),
               rows.end());
    const auto some = read_rows(**reader, rows);
    ASSERT_TRUE(some) << some.error().message;
    auto wanted = std::vector<std::byte>(expected.size(), std::byte{0xEE});
    for (const auto row : rows)
      std::copy_n(expected.begin() + static_cast<std::ptrdiff_t>(row * layout->row_bytes()), layout->row_bytes(),
                  wanted.begin() + static_cast<std::ptrdiff_t>(row * layout->row_bytes()));
    EXPECT_TRUE(*some == wanted);
  }
  EXPECT_GE(ways["chunked"], 200);
  EXPECT_GE(ways["contiguous"], 20);
  EXPECT_GE(ways["compact"], 20);
  EXPECT_GE(ways["library"], 8);
}

}  // namespace
}  // namespace ridgeline::loader
