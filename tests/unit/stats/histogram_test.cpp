// SPDX-License-Identifier: Apache-2.0
#include "stats/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ridgeline::stats {
namespace {

constexpr double kError = 0.01;

TEST(Histogram, quantiles_are_those_of_the_values_to_its_error) {
  base::Random random(3);
  std::vector<double> values;
  Histogram histogram(1e3, 1e10, kError);
  for (int i = 0; i < 20000; ++i) {
    values.push_back(5e6 * std::exp(random.normal()));
    histogram.add(values.back());
  }
  std::sort(values.begin(), values.end());
  EXPECT_EQ(histogram.count(), values.size());
  for (const double q : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(q * 20000)));
    const double exact = values[rank - 1];
    EXPECT_NEAR(histogram.quantile(q), exact, 1.01 * kError * exact) << q;
  }
}

TEST(Histogram, merging_is_counting_together) {
  Histogram all(1, 1000, kError);
  Histogram first = all;
  Histogram second = all;
  for (int value = 1; value <= 100; ++value) {
    all.add(value);
    (value % 3 == 0 ? first : second).add(value);
  }
  first.merge(second);
  EXPECT_EQ(first.count(), 100U);
  for (const double q : {0.1, 0.5, 0.95}) EXPECT_DOUBLE_EQ(first.quantile(q), all.quantile(q));
}

TEST(Histogram, values_beyond_count_as_the_ends_and_none_have_no_quantile) {
  Histogram histogram(10, 100, kError);
  EXPECT_EQ(histogram.quantile(0.5), 0);
  histogram.add(1, 2);
  histogram.add(1e6);
  EXPECT_NEAR(histogram.quantile(0.5), 10, 10 * 2 * kError);
  EXPECT_NEAR(histogram.quantile(1), 100, 100 * 2 * kError);
}

}  // namespace
}  // namespace ridgeline::stats
