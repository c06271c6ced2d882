// SPDX-License-Identifier: Apache-2.0
#include "monitor/cell_grid.hpp"

#include <gtest/gtest.h>

namespace ridgeline::monitor {
namespace {

TEST(CellGrid, cuts_off_what_falls_outside) {
  CellGrid canvas(2, 5, true);
  EXPECT_EQ(canvas.put(0, 3, "abcdef"), 5);
  canvas.put(7, 0, "nowhere");
  canvas.put(-1, 0, "nowhere");
  canvas.put_right(1, 4, "xy");
  EXPECT_EQ(canvas.text(), "   ab\n  xy");
}

TEST(CellGrid, gives_wide_characters_two_columns) {
  CellGrid canvas(1, 6, true);
  EXPECT_EQ(canvas.put(0, 0, "日本x"), 5);
  EXPECT_EQ(canvas.at(0, 1).glyph, U'\0');
  EXPECT_EQ(canvas.text(), "日本x");
  EXPECT_EQ(columns_of("日本x"), 5);
  CellGrid narrow(1, 3, true);
  EXPECT_EQ(narrow.put(0, 0, "日本"), 2) << "half a character is never drawn";
}

TEST(CellGrid, keeps_to_ascii_where_asked) {
  CellGrid canvas(1, 30, false);
  canvas.put(0, 0, "a·b ↑ 日 █");
  EXPECT_EQ(canvas.text(), "a.b ^ ? #");
}

TEST(CellGrid, survives_broken_bytes_and_drops_control_characters) {
  CellGrid canvas(1, 30, true);
  canvas.put(0, 0, "a\xff\xc3(\x1b[31mb\xe2\x82");
  EXPECT_EQ(canvas.text(), "a\uFFFD\uFFFD([31mb\uFFFD\uFFFD");
}

TEST(CellGrid, writes_every_plane_of_unicode) {
  for (const char* text : {"a", "é", "€", "🚀"}) {
    CellGrid canvas(1, 4, true);
    canvas.put(0, 0, text);
    EXPECT_EQ(canvas.text(), text);
  }
}

}  // namespace
}  // namespace ridgeline::monitor
