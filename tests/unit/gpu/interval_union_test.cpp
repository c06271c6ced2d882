// SPDX-License-Identifier: Apache-2.0
#include "gpu/interval_union.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ridgeline::gpu {
namespace {

TEST(IntervalUnion, counts_what_overlaps_once) {
  IntervalUnion busy;
  busy.add(10, 20);
  busy.add(30, 40);
  EXPECT_EQ(busy.covered_ns(), 20);
  busy.add(15, 35);
  EXPECT_EQ(busy.covered_ns(), 30);
  busy.add(12, 14);
  busy.add(50, 50);
  busy.add(60, 55);
  EXPECT_EQ(busy.covered_ns(), 30);
  busy.add(40, 45);
  EXPECT_EQ(busy.covered_ns(), 35);
}

TEST(IntervalUnion, is_what_counting_each_instant_gives) {
  base::Random random(1);
  std::vector<bool> covered(2000);
  IntervalUnion busy;
  std::int64_t sum = 0;
  for (int i = 0; i < 200; ++i) {
    const auto start = static_cast<std::size_t>(random.next() % 1900);
    const auto length = static_cast<std::size_t>(random.next() % 40);
    for (auto at = start; at < start + length; ++at) {
      sum += covered[at] ? 0 : 1;
      covered[at] = true;
    }
    busy.add(static_cast<std::int64_t>(start), static_cast<std::int64_t>(start + length));
    ASSERT_EQ(busy.covered_ns(), sum);
  }
}

TEST(IntervalUnion, forgets_what_is_long_past_without_losing_it) {
  IntervalUnion busy;
  const auto later = 3 * IntervalUnion::kWindowNs;
  busy.add(0, 100);
  busy.add(later, later + 50);
  EXPECT_EQ(busy.covered_ns(), 150);
  busy.add(50, 200);  // too late to be held against what is settled, but for its end
  EXPECT_EQ(busy.covered_ns(), 250);
}

}  // namespace
}  // namespace ridgeline::gpu
