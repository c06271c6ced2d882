// SPDX-License-Identifier: Apache-2.0
#include "stream/load_schedule.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "unit/stream/simulated_loads.hpp"

namespace ridgeline::stream {
namespace {

struct Gaps {
  double mean_ns = 0;
  double variation = 0;  ///< standard deviation over mean
};

Gaps gaps_of(const std::vector<Arrival>& arrivals) {
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 1; i < arrivals.size(); ++i) {
    const auto gap = static_cast<double>(arrivals[i].at_ns - arrivals[i - 1].at_ns);
    sum += gap;
    squares += gap * gap;
  }
  const auto n = static_cast<double>(arrivals.size() - 1);
  const double mean = sum / n;
  return {mean, std::sqrt(squares / n - mean * mean) / mean};
}

std::vector<Arrival> arrivals_of(const SourceLoad& load, std::int64_t duration_ns, std::uint64_t seed = 1) {
  return make_schedule({load}, duration_ns, seed).value();
}

TEST(LoadSchedule, a_camera_comes_at_its_rate_and_jitters_about_it) {
  const auto steady = arrivals_of({.rate_per_s = 30}, 100 * kSecond);
  EXPECT_NEAR(static_cast<double>(steady.size()), 3000, 1);
  for (std::size_t i = 1; i < steady.size(); ++i)
    ASSERT_NEAR(static_cast<double>(steady[i].at_ns - steady[i - 1].at_ns), 1e9 / 30, 2);
  const auto jittered = arrivals_of({.rate_per_s = 30, .jitter = 0.5}, 100 * kSecond);
  const auto gaps = gaps_of(jittered);
  EXPECT_NEAR(gaps.mean_ns, 1e9 / 30, 1e5);
  EXPECT_NEAR(gaps.variation, 0.5 * std::sqrt(2.0 / 12), 0.01);  // the difference of two uniform numbers
}

TEST(LoadSchedule, poisson_gaps_scatter_as_much_as_they_last) {
  const auto gaps = gaps_of(arrivals_of({.process = ArrivalProcess::poisson, .rate_per_s = 1000}, 100 * kSecond));
  EXPECT_NEAR(gaps.mean_ns, 1e6, 0.01e6);
  EXPECT_NEAR(gaps.variation, 1, 0.02);
}

TEST(LoadSchedule, bursts_have_the_rate_and_variation_asked_for) {
  for (const double variation : {1.0, 2.0, 4.0}) {
    const auto gaps = gaps_of(
        arrivals_of({.process = ArrivalProcess::burst, .rate_per_s = 1000, .variation = variation}, 200 * kSecond));
    EXPECT_NEAR(gaps.mean_ns, 1e6, 0.01e6 * variation) << variation;
    EXPECT_NEAR(gaps.variation, variation, 0.03 * variation);
  }
}

TEST(LoadSchedule, a_trace_is_played_as_it_is_and_cut_at_the_end) {
  const auto arrivals = arrivals_of({.process = ArrivalProcess::trace, .times_ns = {0, 5, 5, 9, 10, 11}}, 10);
  ASSERT_EQ(arrivals.size(), 4U);
  EXPECT_EQ(arrivals[3], (Arrival{9, 0, 3}));
}

TEST(LoadSchedule, a_seed_gives_the_same_arrivals_whatever_other_sources_do) {
  const SourceLoad poisson{.process = ArrivalProcess::poisson, .rate_per_s = 200};
  const SourceLoad camera{.rate_per_s = 25, .jitter = 0.1};
  const auto alone = make_schedule({poisson}, 10 * kSecond, 7).value();
  EXPECT_EQ(alone, make_schedule({poisson}, 10 * kSecond, 7).value());
  EXPECT_NE(alone, make_schedule({poisson}, 10 * kSecond, 8).value());
  const auto both = make_schedule({poisson, camera, poisson}, 10 * kSecond, 7).value();
  std::vector<std::vector<Arrival>> by_source(3);
  for (std::size_t i = 0; i < both.size(); ++i) {
    if (i > 0) {
      ASSERT_LE(both[i - 1].at_ns, both[i].at_ns);
    }
    ASSERT_EQ(both[i].sequence, by_source[both[i].source].size());
    by_source[both[i].source].push_back(both[i]);
  }
  EXPECT_EQ(by_source[0], alone);
  EXPECT_NEAR(static_cast<double>(by_source[1].size()), 250, 1);
  EXPECT_NE(by_source[2].front().at_ns, by_source[0].front().at_ns);
}

TEST(LoadSchedule, refuses_values_out_of_range) {
  EXPECT_FALSE(make_schedule({{.rate_per_s = 0}}, kSecond, 1));
  EXPECT_FALSE(make_schedule({{.rate_per_s = std::nan("")}}, kSecond, 1));
  EXPECT_FALSE(make_schedule({{.rate_per_s = 1e12}}, kSecond, 1));
  EXPECT_FALSE(make_schedule({{.jitter = 1.1}}, kSecond, 1));
  EXPECT_FALSE(make_schedule({{.process = ArrivalProcess::burst, .variation = 0.5}}, kSecond, 1));
  EXPECT_FALSE(make_schedule({{.process = ArrivalProcess::trace, .times_ns = {5, 4}}}, kSecond, 1));
}

}  // namespace
}  // namespace ridgeline::stream
