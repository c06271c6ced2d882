// SPDX-License-Identifier: Apache-2.0
#include "loader/lzf.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ridgeline::loader {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

std::string decompressed(const std::vector<std::byte>& in, std::size_t room) {
  std::vector<std::byte> out(room);
  const auto size = lzf_decompress(in, out);
  return {reinterpret_cast<const char*>(out.data()), size};
}

TEST(Lzf, copies_literals) { EXPECT_EQ(decompressed(bytes({2, 'a', 'b', 'c'}), 3), "abc"); }

TEST(Lzf, repeats_what_lies_back) { EXPECT_EQ(decompressed(bytes({1, 'a', 'b', 0x40, 1}), 6), "ababab"); }

TEST(Lzf, reads_a_longer_length_from_another_byte) {
  EXPECT_EQ(decompressed(bytes({0, 'x', 0xE0, 10, 0}), 20), std::string(20, 'x'));
}

TEST(Lzf, refuses_malformed_streams) {
  EXPECT_EQ(decompressed(bytes({3, 'a'}), 10), "");           // literals cut off
  EXPECT_EQ(decompressed(bytes({0, 'a', 0x20}), 10), "");     // no distance
  EXPECT_EQ(decompressed(bytes({0, 'a', 0xE0}), 10), "");     // no length
  EXPECT_EQ(decompressed(bytes({0, 'a', 0x20, 5}), 10), "");  // reaches before the start
  EXPECT_EQ(decompressed(bytes({2, 'a', 'b', 'c'}), 2), "");  // more than there is room for
  EXPECT_EQ(decompressed(bytes({0, 'a', 0xE0, 90, 0}), 10), "");
}

}  // namespace
}  // namespace ridgeline::loader
