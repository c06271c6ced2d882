// SPDX-License-Identifier: Apache-2.0
#include "host/repeated_peak.hpp"

#include <gtest/gtest.h>

namespace ridgeline::host {
namespace {

TEST(RepeatedPeak, is_none_before_the_highest_was_seen_twice) {
  RepeatedPeak peak;
  for (const double rate : {22e9, 11e9, 4.4e9, 19e9}) {
    peak.add(rate);
    EXPECT_FALSE(peak.repeats());
    EXPECT_EQ(peak.value(), 0);
  }
  EXPECT_EQ(peak.rates(1e9).size(), 4U);
  EXPECT_DOUBLE_EQ(peak.rates(1e9)[0], 22);
  peak.add(21e9);
  EXPECT_TRUE(peak.repeats());
  EXPECT_EQ(peak.value(), 22e9);
}

TEST(RepeatedPeak, takes_three_and_no_zero) {
  RepeatedPeak peak;
  peak.add(10);
  peak.add(10);
  EXPECT_FALSE(peak.repeats());
  peak.add(2);
  EXPECT_EQ(peak.value(), 10);
  RepeatedPeak zero;
  for (int i = 0; i < 3; ++i) zero.add(0);
  EXPECT_FALSE(zero.repeats());
}

}  // namespace
}  // namespace ridgeline::host
