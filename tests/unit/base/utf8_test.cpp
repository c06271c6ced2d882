// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace ridgeline::base {
namespace {

TEST(Utf8, counts_terminal_columns) {
  EXPECT_EQ(columns_of("日本é"), 5U);
  EXPECT_EQ(columns_of("e\u0301"), 1U) << "a combining mark";
  EXPECT_EQ(columns_of("🚀⚡"), 4U) << "symbols that terminals draw wide";
  EXPECT_EQ(columns_of("Ωж│█…"), 5U);
  EXPECT_EQ(columns_of("a\tb\n"), 2U);
}

TEST(Utf8, takes_broken_bytes_one_by_one) {
  for (const char* broken : {"\xff", "\xc0\x80", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    const auto character = first_character(broken);
    EXPECT_FALSE(character.valid) << broken;
    EXPECT_EQ(character.length, 1U);
    EXPECT_EQ(character.point, U'\uFFFD');
  }
  EXPECT_TRUE(first_character("\uFFFD").valid);
}

TEST(Utf8, reads_and_writes_every_plane) {
  for (const char* text : {"a", "é", "€", "🚀"}) EXPECT_EQ(utf8(first_character(text).point), text);
}

}  // namespace
}  // namespace ridgeline::base
