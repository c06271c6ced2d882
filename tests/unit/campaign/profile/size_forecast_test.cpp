// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/size_forecast.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace ridgeline::campaign {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMegabyte = 1'000'000;

/// A process that began at 0 and writes 10 MB/s and 2 steps per second.
trace::RecordedProcess at(std::int64_t seconds, std::int64_t begins = 0) {
  trace::RecordedProcess out;
  out.pid = 7;
  out.seen_ns = seconds * kSecond;
  out.bytes = 10 * kMegabyte * std::max<std::int64_t>(0, seconds - begins);
  out.recorded_steps = 2 * std::max<std::int64_t>(0, seconds - begins);
  return out;
}

RecordOptions options(std::int64_t megabytes) {
  RecordOptions out;
  out.max_bytes = megabytes * kMegabyte;
  return out;
}

TEST(SizeForecast, a_duration_that_outgrows_the_size_is_reported_once) {
  auto asked = options(500);
  asked.delay_s = 10;
  asked.duration_s = 60;
  SizeForecast forecast(asked);
  for (int second = 0; second < 14; ++second) EXPECT_FALSE(forecast.add(at(second, 10))) << second;
  const auto warning = forecast.add(at(15, 10));
  ASSERT_TRUE(warning);
  EXPECT_NEAR(*warning->in_all, 600e6, 1);
  EXPECT_NEAR(warning->bytes_per_s, 10e6, 1);
  EXPECT_FALSE(forecast.add(at(16, 10)));
}

TEST(SizeForecast, events_that_cannot_be_read_end_a_recording_before_its_size_does) {
  auto asked = options(500);
  asked.max_events = 20'000'000;
  const auto with_events = [](std::int64_t seconds) {
    auto process = at(seconds);
    process.events = seconds * 1'000'000;
    return process;
  };
  SizeForecast forecast(asked);
  for (int second = 0; second <= 10; ++second) EXPECT_FALSE(forecast.add(with_events(second))) << second;
  const auto warning = forecast.add(with_events(11));
  ASSERT_TRUE(warning);
  EXPECT_TRUE(warning->of_events);
  EXPECT_NEAR(*warning->seconds, 9, 0.01);
}

TEST(SizeForecast, what_fits_is_not_reported) {
  auto asked = options(700);
  asked.duration_s = 60;
  SizeForecast forecast(asked);
  for (int second = 0; second < 60; ++second) EXPECT_FALSE(forecast.add(at(second))) << second;
  asked = options(700);
  asked.steps = 100;  // 500 MB
  SizeForecast by_steps(asked);
  for (int second = 0; second < 50; ++second) EXPECT_FALSE(by_steps.add(at(second))) << second;
}

TEST(SizeForecast, steps_that_outgrow_the_size_are_reported) {
  auto asked = options(700);
  asked.steps = 200;  // 1 GB
  SizeForecast forecast(asked);
  EXPECT_FALSE(forecast.add(at(1)));
  const auto warning = forecast.add(at(5));
  ASSERT_TRUE(warning);
  EXPECT_NEAR(*warning->in_all, 1e9, 1);
}

TEST(SizeForecast, without_an_end_half_of_the_size_is_reported_with_the_time_that_is_left) {
  SizeForecast forecast(options(500));
  for (int second = 0; second <= 25; ++second) EXPECT_FALSE(forecast.add(at(second))) << second;
  const auto warning = forecast.add(at(26));
  ASSERT_TRUE(warning);
  EXPECT_FALSE(warning->in_all);
  EXPECT_NEAR(*warning->seconds, 24, 0.01);
}

}  // namespace
}  // namespace ridgeline::campaign
