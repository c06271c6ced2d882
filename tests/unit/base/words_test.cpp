// SPDX-License-Identifier: Apache-2.0
// The small ones: errors, clock, random numbers, cancellation, version.
#include <signal.h>

#include "base/cancel.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/version.hpp"

namespace ridgeline::base {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return fail(ErrorCode::invalid_argument, "{} is odd", value);
  return value / 2;
}
Result<int> quarter(int value) {
  RL_TRY_ASSIGN(const auto once, half(value));
  RL_TRY(half(once));
  return once / 2;
}

TEST(Error, passes_through_try_with_its_code_and_text) {
  EXPECT_EQ(quarter(8), 2);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error().message, "3 is odd");
  EXPECT_EQ(quarter(7).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(Error(quarter(7).error()).in("model").message, "model: 7 is odd");
  EXPECT_EQ(to_string(ErrorCode::out_of_memory), "out of memory");
}

TEST(SystemClock, does_not_go_back_and_sleeps_long_enough) {
  const auto& clock = system_clock();
  const auto before = clock.now();
  clock.sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(clock.now() - before, std::chrono::milliseconds(5));
}

TEST(SystemClock, writes_utc) {
  EXPECT_EQ(format_utc(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_utc(1795248900), "2026-11-21T08:15:00Z");
  EXPECT_EQ(system_clock().utc_now().size(), 20U);
}

TEST(Random, is_the_published_splitmix64) {
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317ULL);
  EXPECT_EQ(random.next(), 3203168211198807973ULL);
}

TEST(Random, has_the_moments_of_its_distributions) {
  Random random(3);
  constexpr int kDraws = 100'000;
  double uniform = 0;
  double normal = 0;
  double square = 0;
  for (int i = 0; i < kDraws; ++i) {
    uniform += random.uniform();
    const double draw = random.normal();
    normal += draw;
    square += draw * draw;
  }
  EXPECT_NEAR(uniform / kDraws, 0.5, 0.005);
  EXPECT_NEAR(normal / kDraws, 0, 0.015);
  EXPECT_NEAR(square / kDraws, 1, 0.025);
  for (int i = 0; i < 1000; ++i) EXPECT_LT(random.below(7), 7U);
}

TEST(CancelDeathTest, the_first_signal_asks_and_the_second_ends) {
  EXPECT_EXIT(
      {
        install_cancel_signals();
        if (cancel_requested()) ::_exit(1);
        ::raise(SIGINT);
        if (!cancel_requested()) ::_exit(2);
        ::raise(SIGINT);
        ::_exit(3);
      },
      ::testing::ExitedWithCode(130), "");
}

TEST(Version, has_three_numbers) {
  int major = -1;
  int minor = -1;
  int patch = -1;
  EXPECT_EQ(std::sscanf(std::string(version()).c_str(), "%d.%d.%d", &major, &minor, &patch), 3);
}

}  // namespace
}  // namespace ridgeline::base
