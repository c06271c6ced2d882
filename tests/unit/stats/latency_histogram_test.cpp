// SPDX-License-Identifier: Apache-2.0
#include "stats/latency_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ridgeline::stats {
namespace {

TEST(LatencyHistogram, quantiles_have_three_significant_digits) {
  base::Random random(5);
  std::vector<std::int64_t> values;
  LatencyHistogram histogram;
  double sum = 0;
  for (int i = 0; i < 20000; ++i) {
    values.push_back(static_cast<std::int64_t>(3e5 * std::exp(3 * random.normal())));
    histogram.add(values.back());
    sum += static_cast<double>(values.back());
  }
  std::sort(values.begin(), values.end());
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.max(), values.back());
  EXPECT_NEAR(histogram.mean(), sum / 20000, 1e-9 * sum);
  for (const double q : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(q * 20000)));
    const auto exact = static_cast<double>(values[rank - 1]);
    EXPECT_NEAR(static_cast<double>(histogram.quantile(q)), exact, exact / 2000) << q;
  }
}

TEST(LatencyHistogram, every_value_is_counted_near_itself) {
  for (unsigned shift = 0; shift < 63; ++shift)
    for (const std::int64_t offset : {-1, 0, 1}) {
      const std::int64_t value = std::max<std::int64_t>((std::int64_t{1} << shift) + offset, 0);
      LatencyHistogram histogram;
      histogram.add(value);
      histogram.add(std::numeric_limits<std::int64_t>::max());
      EXPECT_NEAR(static_cast<double>(histogram.quantile(0.5)), static_cast<double>(value),
                  value < 2048 ? 0 : static_cast<double>(value) / 2000)
          << value;
    }
}

TEST(LatencyHistogram, merging_is_counting_together) {
  LatencyHistogram all;
  LatencyHistogram first;
  LatencyHistogram second;
  for (std::int64_t value = 1; value <= 100000; value += 7) {
    all.add(value);
    (value % 3 == 0 ? first : second).add(value);
  }
  first.merge(second);
  EXPECT_EQ(first.count(), all.count());
  EXPECT_EQ(first.max(), all.max());
  for (const double q : {0.1, 0.5, 0.95}) EXPECT_EQ(first.quantile(q), all.quantile(q));
}

TEST(LatencyHistogram, nothing_has_no_quantile_and_a_negative_duration_is_0) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0);
  EXPECT_EQ(histogram.mean(), 0);
  histogram.add(-5);
  EXPECT_EQ(histogram.count(), 1U);
  EXPECT_EQ(histogram.max(), 0);
}

TEST(LatencyHistogram, counts_what_is_above_a_limit) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.count_above(5), 0U);
  for (int ms = 1; ms <= 100; ++ms) histogram.add(ms * 1'000'000);
  EXPECT_EQ(histogram.count_above(-1), 100U);
  EXPECT_EQ(histogram.count_above(0), 100U);
  EXPECT_EQ(histogram.count_above(60'000'000), 40U);
  EXPECT_EQ(histogram.count_above(100'000'000), 0U);
  EXPECT_EQ(histogram.count_above(std::int64_t{1} << 60), 0U);
}

}  // namespace
}  // namespace ridgeline::stats
