// SPDX-License-Identifier: Apache-2.0
#include "campaign/save_throttle.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"

namespace ridgeline::campaign {
namespace {

using std::chrono::milliseconds;

/// Saves in ten seconds with a look every tenth, each of which takes that long.
int saves_in_ten_seconds(milliseconds each) {
  const fakes::FakeClock clock;
  SaveThrottle pace(clock);
  int saves = 0;
  const auto save = [&]() -> base::Result<void> {
    ++saves;
    clock.advance(each);
    return {};
  };
  for (const auto end = clock.now() + std::chrono::seconds(10); clock.now() < end; clock.advance(milliseconds(100)))
    EXPECT_TRUE(pace.when_due(save));
  return saves;
}

TEST(SaveThrottle, saves_at_once_and_then_once_a_second) { EXPECT_EQ(saves_in_ten_seconds(milliseconds(0)), 10); }

TEST(SaveThrottle, saves_that_take_long_are_further_apart) { EXPECT_EQ(saves_in_ten_seconds(milliseconds(100)), 2); }

TEST(SaveThrottle, tries_again_at_once_after_a_save_that_failed) {
  const fakes::FakeClock clock;
  SaveThrottle pace(clock);
  const auto failed =
      pace.when_due([]() -> base::Result<void> { return base::fail(base::ErrorCode::io, "disk full"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "disk full");
  int saves = 0;
  ASSERT_TRUE(pace.when_due([&]() -> base::Result<void> { return ++saves, base::Result<void>{}; }));
  EXPECT_EQ(saves, 1);
}

}  // namespace
}  // namespace ridgeline::campaign
