// SPDX-License-Identifier: Apache-2.0
#include "monitor/canvas.hpp"

#include <gtest/gtest.h>

namespace ridgeline::monitor {
namespace {

TEST(Canvas, cuts_off_what_falls_outside) {
  Canvas canvas(2, 5, true);
  EXPECT_EQ(canvas.put(0, 3, "abcdef"), 5);
  canvas.put(7, 0, "nowhere");
  canvas.put(-1, 0, "nowhere");
  canvas.put_right(1, 4, "xy");
  EXPECT_EQ(canvas.text(), "   ab\n  xy");
}

TEST(Canvas, gives_wide_characters_two_columns) {
  Canvas canvas(1, 6, true);
  EXPECT_EQ(canvas.put(0, 0, "日本x"), 5);
  EXPECT_EQ(canvas.at(0, 1).glyph, U'\0');
  EXPECT_EQ(canvas.text(), "日本x");
  EXPECT_EQ(columns_of("日本x"), 5);
  Canvas narrow(1, 3, true);
  EXPECT_EQ(narrow.put(0, 0, "日本"), 2) << "half a character is never drawn";
}

TEST(Canvas, keeps_to_ascii_where_asked) {
  Canvas canvas(1, 30, false);
  canvas.put(0, 0, "a·b ↑ 日 █");
  EXPECT_EQ(canvas.text(), "a.b ^ ? #");
}

TEST(Canvas, survives_broken_bytes_and_drops_control_characters) {
  Canvas canvas(1, 30, true);
  canvas.put(0, 0, "a\xff\xc3(\x1b[31mb\xe2\x82");
  EXPECT_EQ(canvas.text(), "a\uFFFD\uFFFD([31mb\uFFFD\uFFFD");
}

TEST(Canvas, writes_every_plane_of_unicode) {
  for (const char* text : {"a", "é", "€", "🚀"}) {
    Canvas canvas(1, 4, true);
    canvas.put(0, 0, text);
    EXPECT_EQ(canvas.text(), text);
  }
}

}  // namespace
}  // namespace ridgeline::monitor
