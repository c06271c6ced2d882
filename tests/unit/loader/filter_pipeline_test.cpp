// SPDX-License-Identifier: Apache-2.0
#include "loader/filter_pipeline.hpp"

#include <string_view>

#include <gtest/gtest.h>

namespace ridgeline::loader {
namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::string undone(const std::vector<FilterStep>& steps, unsigned mask, std::string_view stored, std::size_t size) {
  FilterPipeline pipeline;
  std::vector<std::byte> out(size);
  const auto done = pipeline.undo(steps, mask, bytes(stored), out);
  if (!done) return "error: " + base::error_line(done.error());
  return {reinterpret_cast<const char*>(out.data()), out.size()};
}

TEST(Fletcher32, sums_big_endian_words) {
  EXPECT_EQ(fletcher32({}), 0U);
  // Words 0x6162, 0x6364: sums 0x6162, 0xC4C6; of sums 0x6162, 0x12628 -> 0x2629.
  EXPECT_EQ(fletcher32(bytes("abcd")), 0x2629C4C6U);
  // An odd byte counts as the high half of a word: 0x6162, 0x6300.
  EXPECT_EQ(fletcher32(bytes("abc")), 0x25C5C462U);
}

TEST(FilterPipeline, nothing_to_undo_is_a_copy) { EXPECT_EQ(undone({}, 0, "abcdef", 6), "abcdef"); }

TEST(FilterPipeline, unshuffles_and_leaves_the_rest_alone) {
  EXPECT_EQ(undone({{Filter::shuffle, 2}}, 0, "acebdfg", 7), "abcdefg");
  EXPECT_EQ(undone({{Filter::shuffle, 3}}, 0, "adbecf", 6), "abcdef");
}

TEST(FilterPipeline, leaves_out_masked_steps) {
  EXPECT_EQ(undone({{Filter::shuffle, 2}, {Filter::deflate, 0}}, 2, "acebdf", 6), "abcdef");
  EXPECT_EQ(undone({{Filter::shuffle, 2}, {Filter::deflate, 0}}, 3, "acebdf", 6), "acebdf");
}

TEST(FilterPipeline, checks_the_checksum_in_either_byte_order_of_old_releases) {
  using namespace std::string_view_literals;
  EXPECT_EQ(undone({{Filter::fletcher32, 0}}, 0, "abcd\xC6\xC4\x29\x26"sv, 4), "abcd");
  EXPECT_EQ(undone({{Filter::fletcher32, 0}}, 0, "abcd\xC4\xC6\x26\x29"sv, 4), "abcd");
  EXPECT_EQ(undone({{Filter::fletcher32, 0}}, 0, "abce\xC6\xC4\x29\x26"sv, 4),
            "error: fletcher32 checksum is 2629c4c6, the data give 262ac4c7");
}

TEST(FilterPipeline, says_what_is_wrong) {
  EXPECT_EQ(undone({{Filter::fletcher32, 0}}, 0, "abc", 4), "error: 3 bytes, too few for a fletcher32 checksum");
  EXPECT_EQ(undone({{Filter::shuffle, 2}}, 0, "abc", 4), "error: 3 bytes to unshuffle, expected 4");
  EXPECT_EQ(undone({{Filter::deflate, 0}}, 0, "rubbish", 4),
            "error: the deflate stream is broken or fails its checksum");
  EXPECT_EQ(undone({{Filter::lzf, 0}}, 0, std::string_view("\1ab", 3), 4),
            "error: the lzf stream is broken: 2 bytes, expected 4");
  EXPECT_EQ(undone({}, 0, "abc", 4), "error: 3 bytes, expected 4");
}

}  // namespace
}  // namespace ridgeline::loader
