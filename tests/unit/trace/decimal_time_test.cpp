// SPDX-License-Identifier: Apache-2.0
#include "trace/import/decimal_time.hpp"

#include <gtest/gtest.h>

namespace ridgeline::trace {
namespace {

TEST(DecimalTime, keeps_every_nanosecond_of_todays_clocks) {
  EXPECT_EQ(nanoseconds_of("1752839462723407.123"), 1752839462723407123);
  EXPECT_EQ(nanoseconds_of("0"), 0);
  EXPECT_EQ(nanoseconds_of("12.5"), 12500);
  EXPECT_EQ(nanoseconds_of("12.0004"), 12000);
  EXPECT_EQ(nanoseconds_of("12.0005"), 12001);
  EXPECT_EQ(nanoseconds_of("-3.25"), -3250);
  EXPECT_EQ(nanoseconds_of("1.5e3"), 1500000);
}

TEST(DecimalTime, refuses_what_is_no_time) {
  for (const auto* text : {"", "-", ".5", "abc", "1x", "1.2.3", "\"12\"", "99999999999999999999", "1e400", "nan"})
    EXPECT_EQ(nanoseconds_of(text), std::nullopt) << text;
}

}  // namespace
}  // namespace ridgeline::trace
