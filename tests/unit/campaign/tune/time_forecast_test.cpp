// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/time_forecast.hpp"

#include <gtest/gtest.h>

namespace ridgeline::campaign {
namespace {

TEST(TimeForecast, reaches_from_steady_times_to_times_that_never_are) {
  TuneRequest request;
  request.plan.min_time_s = 0.2;
  request.plan.warmup_max_s = 5;
  request.plan.max_time_s = 5;
  request.paired.min_time_s = 4;
  request.paired.max_time_s = 30;
  request.finalists = 3;
  request.leave_one_out = false;
  const auto time = forecast_time(request, 40, 1);
  EXPECT_EQ(time.trials, 40U);
  EXPECT_EQ(time.comparisons, 3U);
  EXPECT_NEAR(time.low_s, 40 * 0.5 + 4, 1e-9);
  EXPECT_NEAR(time.high_s, 40 * 10.3 + 3 * 30.6, 1e-9);
  EXPECT_FALSE(time.limit_s);
  // Two trials at a time take half as long; comparisons run one after another.
  EXPECT_NEAR(forecast_time(request, 41, 2).high_s, 21 * 10.3 + 3 * 30.6, 1e-9);
}

TEST(TimeForecast, taking_settings_out_of_the_winner_takes_comparisons_of_its_own) {
  TuneRequest request;
  request.leave_one_out = true;
  EXPECT_GT(forecast_time(request, 10, 1).comparisons, request.finalists);
  request.finalists = 0;
  EXPECT_EQ(forecast_time(request, 10, 1).comparisons, 0U);
}

TEST(TimeForecast, max_time_bounds_both_ends) {
  TuneRequest request;
  request.max_time = std::chrono::seconds(3);
  const auto time = forecast_time(request, 100, 1);
  EXPECT_EQ(time.limit_s, 3);
  EXPECT_EQ(time.low_s, 3);
  EXPECT_EQ(time.high_s, 3);
}

}  // namespace
}  // namespace ridgeline::campaign
