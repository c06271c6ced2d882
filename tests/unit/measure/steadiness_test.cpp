// SPDX-License-Identifier: Apache-2.0
#include "measure/steadiness.hpp"

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ridgeline::measure {
namespace {

std::vector<double> series(int count, double noise, const std::function<double(int)>& level, std::uint64_t seed = 1) {
  base::Random random(seed);
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(level(i) * (1 + noise * random.normal()));
  return out;
}

TEST(Steadiness, is_unknown_below_six_samples) {
  EXPECT_EQ(check_steadiness(std::vector<double>(5, 1.0)), Steadiness::unknown);
  EXPECT_EQ(check_steadiness(std::vector<double>(6, 1.0)), Steadiness::steady);
}

TEST(Steadiness, passes_constant_noise_nearly_always) {
  for (const int count : {12, 30, 200, 2000}) {
    int steady = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed)
      steady += check_steadiness(series(
                    count, 0.03, [](int) { return 100.0; }, seed)) == Steadiness::steady
                    ? 1
                    : 0;
    EXPECT_GE(steady, 170) << count;
  }
}

TEST(Steadiness, sees_a_decay_that_has_not_ended) {
  int moving = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    moving += check_steadiness(series(
                  200, 0.01, [](int i) { return 100 * (1 + std::exp(-i / 100.0)); }, seed)) == Steadiness::moving
                  ? 1
                  : 0;
  EXPECT_GE(moving, 99);
}

TEST(Steadiness, accepts_a_decay_that_ended_in_the_earlier_half) {
  EXPECT_EQ(check_steadiness(series(400, 0.01, [](int i) { return 100 * (1 + std::exp(-i / 20.0)); })),
            Steadiness::steady);
}

TEST(Steadiness, sees_a_step_and_a_rise) {
  EXPECT_EQ(check_steadiness(series(300, 0.01, [](int i) { return i < 220 ? 120.0 : 100.0; })), Steadiness::moving);
  EXPECT_EQ(check_steadiness(series(300, 0.01, [](int i) { return 100 + 0.1 * i; })), Steadiness::moving);
}

TEST(Steadiness, is_not_misled_by_single_spikes) {
  EXPECT_EQ(check_steadiness(series(300, 0.01, [](int i) { return i % 37 == 0 ? 1000.0 : 100.0; })),
            Steadiness::steady);
}

}  // namespace
}  // namespace ridgeline::measure
