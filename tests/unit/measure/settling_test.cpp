// SPDX-License-Identifier: Apache-2.0
#include "measure/settling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace ridgeline::measure {
namespace {

using base::from_seconds;
using base::system_clock;

/// A thread that computes until a point in time.
std::jthread spin_for(double seconds) {
  return std::jthread([until = system_clock().now() + from_seconds(seconds)] {
    while (system_clock().now() < until) {
    }
  });
}

TEST(Settle, ends_at_once_where_nothing_runs) {
  base::Nanoseconds least = from_seconds(1);
  // Other processes may delay one of them.
  for (int i = 0; i < 5; ++i) least = std::min(least, settle(from_seconds(10)));
  EXPECT_GE(least, from_seconds(0.001));
  EXPECT_LT(least, from_seconds(0.5));
}

TEST(Settle, waits_for_threads_that_spin) {
  const auto spinner = spin_for(0.1);
  const auto begin = system_clock().now();
  const auto slept = settle(from_seconds(60));
  EXPECT_GE(slept, from_seconds(0.09));
  EXPECT_LE(slept, system_clock().now() - begin);
  EXPECT_LT(slept, from_seconds(30));
}

TEST(Settle, gives_up_at_the_limit) {
  const auto spinner = spin_for(1);
  const auto slept = settle(from_seconds(0.02));
  EXPECT_GE(slept, from_seconds(0.02));
  EXPECT_LT(slept, from_seconds(0.5));
}

}  // namespace
}  // namespace ridgeline::measure
