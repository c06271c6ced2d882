// SPDX-License-Identifier: Apache-2.0
// Files cut off or with flipped bits: an error that names them, or the right bytes; never a crash, never silent garbage
// where a checksum guards the data.
#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/random.hpp"
#include "fakes/hdf5_files.hpp"
#include "fakes/temporary_folder.hpp"
#include "fuzz/loader_properties.hpp"
#include "loader/dataset_reader.hpp"
#include "loader/layout_reader.hpp"

namespace ridgeline::loader {
namespace {

class Damage : public ::testing::Test {
 protected:
  static fakes::Hdf5Case guarded(const char* filters) {
    fakes::Hdf5Case c;
    c.element = "i4";
    c.shape = {40, 12};
    c.chunk = {6, 5};
    c.filters = filters;
    return c;
  }
  std::string write(const fakes::Hdf5Case& c) {
    fakes::write_hdf5(path_, c);
    return *base::read_file(path_);
  }
  void put(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  static base::Result<std::vector<std::byte>> read_with(const DataFile& file, const DatasetLayout& layout) {
    RL_TRY_ASSIGN(const auto reader, DatasetReader::open(file, layout, nullptr, 0));
    std::vector<std::byte> out(layout.rows() * layout.row_bytes());
    std::vector<RowRequest> requests;
    for (std::uint64_t row = 0; row < layout.rows(); ++row)
      requests.push_back({row, out.data() + row * layout.row_bytes()});
    ReadScratch scratch;
    ReadStatistics statistics;
    RL_TRY(reader->read(requests, scratch, statistics));
    return out;
  }
  base::Result<std::vector<std::byte>> read_all() const {
    RL_TRY_ASSIGN(const auto file, DataFile::open(path_));
    RL_TRY_ASSIGN(const auto layout, read_layout(file, "x", LayoutCache("")));
    return read_with(file, layout);
  }

  fakes::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "damaged.h5";
};

TEST_F(Damage, a_flipped_bit_in_checked_data_is_found_and_its_chunk_named) {
  for (const char* filters : {"f", "g", "sg", "sgf", "slf"}) {
    SCOPED_TRACE(filters);
    const auto bytes = write(guarded(filters));
    const auto right = *read_all();
    const auto layout = *inspect_dataset(path_, "x");
    base::Random random(7);
    for (std::uint64_t index = 0; index < layout.chunk_count(); ++index) {
      const auto chunk = layout.chunk(index);
      auto damaged = bytes;
      auto& byte = damaged[chunk.offset + random.below(chunk.size)];
      byte = static_cast<char>(byte ^ (1 << random.below(8)));
      put(damaged);
      const auto file = DataFile::open(path_);
      const auto read = read_with(*file, layout);
      if (read) {  // an unused bit of the deflate stream
        EXPECT_TRUE(*read == right);
        continue;
      }
      const auto name = fmt::format("{}: dataset \"x\": chunk {}: ", path_.string(), layout.chunk_name(index));
      EXPECT_TRUE(read.error().message.starts_with(name)) << read.error().message;
      EXPECT_EQ(read.error().code, base::ErrorCode::corrupt);
    }
  }
}

TEST_F(Damage, a_file_cut_off_anywhere_is_an_error_or_intact) {
  for (const bool latest : {false, true}) {
    auto c = guarded("sgf");
    c.latest = latest;
    const auto bytes = write(c);
    const auto right = *read_all();
    base::Random random(11);
    for (int i = 0; i < 20; ++i) {
      put(bytes.substr(0, i == 0 ? bytes.size() - 1 : random.below(bytes.size())));
      const auto read = read_all();
      if (read)
        EXPECT_TRUE(*read == right);
      else
        EXPECT_NE(read.error().message.find(path_.string()), std::string::npos) << read.error().message;
    }
  }
}

TEST_F(Damage, a_file_that_shrinks_after_it_was_opened_is_an_error) {
  auto c = guarded("");
  const auto bytes = write(c);
  const auto file = DataFile::open(path_);
  const auto layout = *inspect_dataset(path_, "x");
  std::filesystem::resize_file(path_, layout.chunk(20).offset + 4);
  const auto read = read_with(*file, layout);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("dataset \"x\": chunk ("), std::string::npos) << read.error().message;
  EXPECT_NE(read.error().message.find("cut off or being rewritten"), std::string::npos) << read.error().message;
}

TEST_F(Damage, flipped_bits_in_metadata_never_crash) {
  base::Random random(13);
  int errors = 0;
  for (const char* filters : {"", "sgf"})
    for (const bool latest : {false, true}) {
      auto c = guarded(filters);
      c.latest = latest;
      c.chunk = {2, 3};
      const auto bytes = write(c);
      const auto layout = *inspect_dataset(path_, "x");
      auto metadata = bytes.size();
      for (const auto& chunk : layout.chunks) metadata = std::min<std::size_t>(metadata, chunk.offset);
      for (int i = 0; i < 30; ++i) {
        auto damaged = bytes;
        for (std::uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
          auto& byte = damaged[random.below(metadata)];
          byte = static_cast<char>(byte ^ (1 << random.below(8)));
        }
        put(damaged);
        const auto read = read_all();
        if (read) continue;  // the bit did not matter, or turned one valid file into another
        ++errors;
        EXPECT_NE(read.error().message.find(path_.string()), std::string::npos) << read.error().message;
        EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
      }
    }
  EXPECT_GT(errors, 30);
}

TEST_F(Damage, a_wrong_index_in_the_b_tree_is_refused) {
  const auto bytes = write(guarded(""));
  const auto leaf = bytes.find("TREE", bytes.find("TREE") + 4);  // the first is the group's
  ASSERT_NE(leaf, std::string::npos);
  const auto damage = [&](std::size_t at, char value) {
    auto damaged = bytes;
    damaged[leaf + at] = value;
    put(damaged);
    const auto read = read_all();
    return read ? std::string("no error") : read.error().message;
  };
  constexpr std::size_t kKeys = 24;
  EXPECT_NE(damage(4, 9).find("no chunk B-tree node"), std::string::npos);
  EXPECT_NE(damage(5, 3).find("dataset \"x\""), std::string::npos);
  EXPECT_NE(damage(kKeys, 1).find("bytes, expected 120"), std::string::npos) << damage(kKeys, 1);
  EXPECT_NE(damage(kKeys + 8, 1).find("outside the grid"), std::string::npos) << damage(kKeys + 8, 1);
  EXPECT_NE(damage(kKeys + 8, 6).find("out of order or listed twice"), std::string::npos) << damage(kKeys + 8, 6);
  EXPECT_NE(damage(kKeys + 37, 0x7F).find("beyond the file"), std::string::npos) << damage(kKeys + 37, 0x7F);
}

TEST(LoaderParsers, no_bytes_break_them) {
  fakes::TemporaryFolder folder;
  std::vector<std::string> seeds{std::string(64, '\0'), "TREE", std::string(300, '\xFF')};
  for (const bool latest : {false, true}) {
    fakes::Hdf5Case c;
    c.shape = {40, 6};
    c.chunk = {4, 3};
    c.filters = latest ? "" : "g";
    c.latest = latest;
    fakes::write_hdf5(folder / "seed.h5", c);
    const auto layout = inspect_dataset(folder / "seed.h5", "x");
    seeds.push_back(std::string(4, '\0') + encode_layout(*layout));
    const auto bytes = *base::read_file(folder / "seed.h5");
    for (std::size_t at = 0; at + 512 < bytes.size() && at < 8192; at += 256)
      seeds.push_back(std::string("\x21\x00\x00\x00", 4) + bytes.substr(at, 4096));
  }
  base::Random random(17);
  for (int i = 0; i < 30000; ++i) {
    auto input = seeds[random.below(seeds.size())];
    if (random.below(3) == 0) input[0] = static_cast<char>(random.next());
    for (auto edits = random.below(6); edits > 0; --edits)
      input[random.below(input.size())] = static_cast<char>(random.next());
    if (random.below(8) == 0) input.resize(random.below(input.size() + 1));
    const auto broken = fuzz::broken_loader_property({reinterpret_cast<const std::byte*>(input.data()), input.size()});
    ASSERT_EQ(broken, "") << "input " << i;
  }
}

}  // namespace
}  // namespace ridgeline::loader
