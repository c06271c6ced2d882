// SPDX-License-Identifier: Apache-2.0
#include "monitor/first_gap.hpp"

#include <gtest/gtest.h>

namespace ridgeline::monitor {
namespace {

using std::chrono::milliseconds;

TEST(FirstGapTest, gives_way_where_the_driver_was_slow_to_start) {
  EXPECT_EQ(gap_after(milliseconds(0)), milliseconds(60));
  EXPECT_EQ(gap_after(milliseconds(20)), milliseconds(60));
  EXPECT_EQ(gap_after(milliseconds(45)), milliseconds(35));
  EXPECT_EQ(gap_after(milliseconds(500)), milliseconds(20));
}

}  // namespace
}  // namespace ridgeline::monitor
