// SPDX-License-Identifier: Apache-2.0
#include "tracefile/string_table.hpp"

#include <gtest/gtest.h>

namespace ridgeline::trace {
namespace {

TEST(StringTable, has_each_string_once_and_keeps_it_where_it_is) {
  StringTable table;
  EXPECT_EQ(table.id(""), 0U);
  const auto first = table.id("aten::mm");
  const auto view = table.text(first);
  const std::string large(200'000, 'x');
  const auto big = table.id(large);
  for (int i = 0; i < 20'000; ++i) (void)table.id("name " + std::to_string(i));
  EXPECT_EQ(table.id("aten::mm"), first);
  EXPECT_EQ(table.text(first).data(), view.data());
  EXPECT_EQ(table.text(big), large);
  EXPECT_EQ(table.text(table.id("name 19999")), "name 19999");
  EXPECT_EQ(table.size(), 20'003U);
  const auto moved = std::move(table);
  EXPECT_EQ(moved.text(first), "aten::mm");
}

}  // namespace
}  // namespace ridgeline::trace
