// SPDX-License-Identifier: Apache-2.0
// Files cut off or with flipped bits: an error that names them, or the right bytes; never a crash, never silent garbage
// where a checksum guards the data.
#include <algorithm>
#include <array>
#include <fstream>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/random.hpp"
#include "fakes/hdf5_files.hpp"
#include "fakes/temporary_folder.hpp"
#include "fuzz/loader_properties.hpp"
#include "loader/dataset_reader.hpp"
#include "loader/layout_reader.hpp"
#include "loader/metadata_checksum.hpp"

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

TEST_F(Damage, rows_that_were_to_be_kept_but_cannot_be_loaded_come_from_the_file_one_by_one) {
  auto bytes = write(guarded("f"));
  const auto right = *read_all();
  const auto layout = *inspect_dataset(path_, "x");
  const auto chunk = layout.chunk(layout.chunk_count() - 1);
  bytes[chunk.offset] = static_cast<char>(bytes[chunk.offset] ^ 1);
  put(bytes);
  const auto file = DataFile::open(path_);
  const auto reader = DatasetReader::open(*file, layout, nullptr, 0);
  ASSERT_TRUE(reader);
  ASSERT_TRUE((*reader)->is_small());
  (*reader)->keep_all_rows();
  ReadScratch scratch;
  ReadStatistics statistics;
  std::vector<std::byte> row(layout.row_bytes());
  for (std::uint64_t at = 0; at < layout.rows(); ++at) {
    const RowRequest request{at, row.data()};
    const auto read = (*reader)->read({&request, 1}, scratch, statistics);
    if (at / 6 < 6) {  // of seven rows of chunks
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_TRUE(std::equal(row.begin(), row.end(), right.begin() + static_cast<std::ptrdiff_t>(at * row.size())));
    } else {
      ASSERT_FALSE(read);
      EXPECT_NE(read.error().message.find(layout.chunk_name(layout.chunk_count() - 1)), std::string::npos);
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
    return read ? std::string("no error") : base::error_line(read.error());
  };
  constexpr std::size_t kKeys = 24;
  EXPECT_NE(damage(4, 9).find("no chunk B-tree node"), std::string::npos);
  EXPECT_NE(damage(5, 3).find("dataset \"x\""), std::string::npos);
  EXPECT_NE(damage(kKeys, 1).find("bytes, expected 120"), std::string::npos) << damage(kKeys, 1);
  EXPECT_NE(damage(kKeys + 8, 1).find("outside the grid"), std::string::npos) << damage(kKeys + 8, 1);
  EXPECT_NE(damage(kKeys + 8, 6).find("out of order or listed twice"), std::string::npos) << damage(kKeys + 8, 6);
  EXPECT_NE(damage(kKeys + 37, 0x7F).find("beyond the file"), std::string::npos) << damage(kKeys + 37, 0x7F);
}

TEST_F(Damage, a_flipped_bit_anywhere_in_a_newer_index_is_found_by_its_checksum) {
  struct Form {
    std::vector<hsize_t> max_shape;
    std::vector<std::string> blocks;
  };
  constexpr auto kNoLimit = H5S_UNLIMITED;
  const std::array forms{Form{{60, 100}, {"FAHD", "FADB"}}, Form{{kNoLimit, 100}, {"EAHD", "EAIB", "EADB", "EASB"}},
                         Form{{kNoLimit, kNoLimit}, {"BTHD", "BTIN", "BTLF"}}};
  base::Random random(19);
  for (const auto& form : forms) {
    auto c = guarded("f");
    c.latest = true;
    c.chunk = {1, 2};
    c.max_shape = form.max_shape;
    const auto bytes = write(c);
    const auto right = read_all();
    ASSERT_TRUE(right) << right.error().message;
    for (const auto& block : form.blocks) {
      SCOPED_TRACE(block);
      auto at = bytes.find(block);
      ASSERT_NE(at, std::string::npos);
      for (int found = 0; at != std::string::npos && found < 3; ++found, at = bytes.find(block, at + 4)) {
        auto damaged = bytes;
        auto& byte = damaged[at + 6 + random.below(12)];  // all blocks are longer
        byte = static_cast<char>(byte ^ (1 << random.below(8)));
        put(damaged);
        const auto read = read_all();
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code, base::ErrorCode::corrupt);
        EXPECT_TRUE(read.error().message.starts_with(path_.string() + ": dataset \"x\"")) << read.error().message;
        EXPECT_NE(read.error().message.find("its checksum is"), std::string::npos) << read.error().message;
      }
    }
  }
}

TEST_F(Damage, a_damaged_block_of_an_array_is_named_with_its_first_chunk) {
  auto c = guarded("");
  c.latest = true;
  c.chunk = {1, 12};
  c.max_shape = {H5S_UNLIMITED, 12};
  auto bytes = write(c);
  const auto block = bytes.find("EADB", bytes.find("EADB") + 4);
  ASSERT_NE(block, std::string::npos);
  bytes[block + 30] = static_cast<char>(bytes[block + 30] ^ 1);
  put(bytes);
  const auto read = read_all();
  ASSERT_FALSE(read);
  const auto& message = read.error().message;
  // 4 elements in the index block, 16 in the first data block; the library may put the blocks down in any order.
  const bool named =
      message.find("the index from chunk (4, 0) on: a data block of an extensible array at ") != std::string::npos ||
      message.find("the index from chunk (20, 0) on: a data block of an extensible array at ") != std::string::npos;
  EXPECT_TRUE(named) << message;
}

TEST_F(Damage, an_index_with_an_owner_or_order_that_cannot_be_is_refused_though_its_checksum_is_right) {
  const auto with = [&](const char* signature, std::size_t at, char value, std::size_t block_bytes,
                        std::vector<hsize_t> max_shape) {
    auto c = guarded("");
    c.latest = true;
    c.max_shape = std::move(max_shape);
    auto bytes = write(c);
    const auto block = bytes.find(signature);
    if (block == std::string::npos) return fmt::format("no {}", signature);
    bytes[block + at] = value;
    const auto* data = reinterpret_cast<const std::byte*>(bytes.data() + block);
    const auto sum = metadata_checksum({data, block_bytes - 4});
    for (std::size_t i = 0; i < 4; ++i) bytes[block + block_bytes - 4 + i] = static_cast<char>(sum >> (8 * i));
    put(bytes);
    const auto read = read_all();
    return read ? std::string("no error") : base::error_line(read.error());
  };
  constexpr auto kNoLimit = H5S_UNLIMITED;
  // 7 x 3 chunks of 120 bytes. An array block begins with signature, version, client and owner.
  constexpr std::size_t kFixedBlock = 14 + 21 * 8 + 4;
  constexpr std::size_t kExtensibleBlock = 14 + 4 + 16 * 8 + 4;
  constexpr std::size_t kLeaf = 6 + 21 * 24 + 4;
  EXPECT_NE(with("FADB", 6, 1, kFixedBlock, {40, 12}).find("belongs to an array at"), std::string::npos);
  EXPECT_NE(with("EADB", 6, 1, kExtensibleBlock, {kNoLimit, 12}).find("belongs to an array at"), std::string::npos);
  EXPECT_NE(with("EADB", 14, 7, kExtensibleBlock, {kNoLimit, 12}).find("begins with element 7, expected 0"),
            std::string::npos);
  EXPECT_NE(with("EADB", 18 + 5, 1, kExtensibleBlock, {kNoLimit, 12}).find("beyond the file"), std::string::npos);
  EXPECT_NE(with("BTLF", 6 + 24 + 8, 5, kLeaf, {kNoLimit, kNoLimit}).find("out of order or listed twice"),
            std::string::npos);
  EXPECT_NE(with("BTLF", 6 + 24 + 8, 99, kLeaf, {kNoLimit, kNoLimit}).find("outside the grid of 7"), std::string::npos);
}

/// Small files of every chunk index, each behind the four bytes that ask the fuzzed parser for that index.
std::vector<std::string> index_seeds() {
  constexpr auto kNoLimit = H5S_UNLIMITED;
  struct Form {
    std::vector<hsize_t> max_shape;
    int flags;
  };
  const std::array forms{Form{{}, 0}, Form{{40, 6}, 0}, Form{{kNoLimit, 9}, 16}, Form{{48, kNoLimit}, 32},
                         Form{{kNoLimit, kNoLimit}, 48}};
  const fakes::TemporaryFolder folder;
  std::vector<std::string> seeds;
  for (const auto& form : forms)
    for (const bool filtered : {false, true}) {
      fakes::Hdf5Case c;
      c.shape = {40, 6};
      c.chunk = {4, 3};
      c.filters = filtered ? "g" : "";
      c.max_shape = form.max_shape;
      c.latest = !form.max_shape.empty();
      fakes::write_hdf5(folder / "seed.h5", c);
      const auto bytes = *base::read_file(folder / "seed.h5");
      const auto header = fakes::header_address(folder / "seed.h5");
      seeds.push_back({static_cast<char>(filtered ? 33 : 1), static_cast<char>(header % 256),
                       static_cast<char>(form.flags + static_cast<int>(header / 256)), 1});
      seeds.back() += bytes;
    }
  return seeds;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

TEST(LoaderParsers, the_seeds_are_indexes_that_are_read) {
  for (const auto& seed : index_seeds()) {
    const auto input = bytes_of(seed);
    const auto [layout, place] = fuzz::index_question(input);
    const auto index = read_chunk_index(fuzz::MemorySource(input.subspan(4), false), place, layout);
    ASSERT_TRUE(index) << index.error().message;
    ASSERT_TRUE(index->chunks) << index->unread;
    EXPECT_EQ(index->chunks->size(), 20U);
    for (const auto& chunk : *index->chunks) EXPECT_FALSE(chunk.missing());
  }
}

TEST(LoaderParsers, a_form_of_index_that_is_not_known_is_left_to_the_library_with_the_reason) {
  auto seed = index_seeds()[4];  // an extensible array
  const auto message =
      seed.find(std::string("\4\2\0\3\1\4\3\4\4", 9));  // version, class, flags, 3 extents of a byte, kind
  ASSERT_NE(message, std::string::npos);
  const auto reason = [&](std::size_t at, char value) {
    auto changed = seed;
    changed[at] = value;
    const auto [layout, place] = fuzz::index_question(bytes_of(changed));
    const auto index = read_chunk_index(fuzz::MemorySource(bytes_of(changed).subspan(4), true), place, layout);
    return index ? index->unread : base::error_line(index.error());
  };
  EXPECT_EQ(reason(message, 4), "");
  EXPECT_EQ(reason(message, 5), "a layout message of version 5");
  EXPECT_EQ(reason(message + 8, 6), "a chunk index of kind 6");
  EXPECT_EQ(reason(seed.find("EAHD") + 4, 1), "an extensible array of version 1");
}

TEST(LoaderParsers, no_bytes_break_them) {
  fakes::TemporaryFolder folder;
  auto seeds = index_seeds();
  fakes::Hdf5Case c;
  c.shape = {40, 6};
  c.chunk = {4, 3};
  fakes::write_hdf5(folder / "seed.h5", c);
  seeds.push_back(std::string(4, '\0') + encode_layout(*inspect_dataset(folder / "seed.h5", "x")));
  for (const auto& other : {std::string(64, '\0'), std::string("TREE"), std::string(300, '\xFF')})
    seeds.push_back(other);
  base::Random random(17);
  for (int i = 0; i < 30000; ++i) {
    auto input = seeds[random.below(seeds.size())];
    if (random.below(3) == 0) input[0] = static_cast<char>(random.next());
    for (auto edits = random.below(6); edits > 0; --edits)
      input[random.below(input.size())] = static_cast<char>(random.next());
    if (random.below(8) == 0) input.resize(random.below(input.size() + 1));
    const auto broken = fuzz::broken_loader_property(bytes_of(input));
    ASSERT_EQ(broken, "") << "input " << i;
  }
}

}  // namespace
}  // namespace ridgeline::loader
