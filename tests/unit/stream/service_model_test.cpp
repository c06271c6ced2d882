// SPDX-License-Identifier: Apache-2.0
#include "stream/service_model.hpp"

#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "stream/size_change.hpp"
#include "stream/slo_sizing.hpp"

namespace ridgeline::stream {
namespace {

/// 3 + n, in ms, for 1, 8 and 32.
ServiceModel detector(BatchShape shape) {
  return ServiceModel::make({{1, {4'000'000}}, {8, {11'000'000}}, {32, {35'000'000}}}, shape).value();
}

TEST(ServiceModel, is_linear_between_warmed_sizes_and_beyond) {
  const auto model = detector(BatchShape::exact);
  for (const std::uint32_t n : {1U, 2U, 8U, 20U, 32U, 40U}) EXPECT_EQ(model.expected_ns(n), (3 + n) * 1'000'000) << n;
  EXPECT_EQ(model.executed_size(20), 20U);
}

TEST(ServiceModel, a_padded_batch_takes_the_time_of_its_size) {
  const auto model = detector(BatchShape::padded);
  EXPECT_EQ(model.executed_size(9), 32U);
  EXPECT_EQ(model.expected_ns(9), 35'000'000);
  EXPECT_EQ(model.expected_ns(2), 11'000'000);
  EXPECT_EQ(model.largest(), 32U);
}

TEST(ServiceModel, takes_a_full_batch_rather_than_one_that_is_mostly_padding) {
  const auto model = detector(BatchShape::padded);
  EXPECT_EQ(model.efficient_size(8), 8U);
  EXPECT_EQ(model.efficient_size(9), 8U) << "8 in 11 ms, or 9 in 35 ms";
  EXPECT_EQ(model.efficient_size(25), 8U) << "8 / 11 is more than 25 / 35";
  EXPECT_EQ(model.efficient_size(26), 26U);
  EXPECT_EQ(model.efficient_size(40), 40U);
  EXPECT_EQ(detector(BatchShape::exact).efficient_size(9), 9U);
}

TEST(ServiceModel, follows_what_batches_take) {
  auto model = detector(BatchShape::exact);
  for (int i = 0; i < 200; ++i) model.observe(8, 22'000'000 + i % 10 * 100'000);
  EXPECT_NEAR(static_cast<double>(model.expected_ns(8)), 22.45e6, 0.1e6);
  EXPECT_NEAR(static_cast<double>(model.high_ns(8)), 23.1e6, 0.2e6);
  // No batch of 32 was seen for long: what all batches say holds for it.
  EXPECT_NEAR(static_cast<double>(model.expected_ns(32)), 35e6 * 22.45 / 11, 0.5e6);
  EXPECT_EQ(model.warm_ns(8), 11'000'000);
}

TEST(ServiceModel, its_high_value_is_rarely_exceeded_whatever_the_scatter) {
  for (const double scatter : {0.01, 0.1, 0.3}) {
    auto model = detector(BatchShape::exact);
    base::Random random(23);
    int exceeded = 0;
    double sum = 0;
    constexpr int kBatches = 20000;
    for (int i = 0; i < kBatches; ++i) {
      const auto took = static_cast<std::int64_t>(35e6 * std::exp(scatter * random.normal()));
      exceeded += i > 200 && took > model.high_ns(32) ? 1 : 0;
      sum += static_cast<double>(model.high_ns(32));
      model.observe(32, took);
    }
    EXPECT_LT(exceeded, 0.01 * kBatches) << scatter;
    EXPECT_LT(sum / kBatches, 35e6 * std::exp(3 * scatter)) << scatter;  // and not by being far too high
  }
}

TEST(ServiceModel, one_outlier_moves_nothing) {
  auto model = detector(BatchShape::exact);
  for (int i = 0; i < 100; ++i) model.observe(32, 35'000'000);
  model.observe(32, 1'000'000'000);
  EXPECT_EQ(model.expected_ns(32), 35'000'000);
  EXPECT_EQ(model.high_ns(32), 35'000'000);
  model.observe(32, 1'000'000'000);
  EXPECT_GE(model.high_ns(32), 1'000'000'000);
}

TEST(ServiceModel, a_size_that_was_slow_and_is_avoided_is_forgotten) {
  auto model = detector(BatchShape::exact);
  for (int i = 0; i < 50; ++i) model.observe(32, 100'000'000);
  EXPECT_GE(model.high_ns(32), 100'000'000);
  for (int i = 0; i < 300; ++i) model.observe(8, 11'000'000);
  EXPECT_EQ(model.high_ns(32), 35'000'000);
}

TEST(ServiceModel, refuses_a_warm_up_that_says_nothing) {
  EXPECT_FALSE(ServiceModel::make({}, BatchShape::exact));
  EXPECT_FALSE(ServiceModel::make({{1, {}}}, BatchShape::exact));
  EXPECT_FALSE(ServiceModel::make({{0, {5}}}, BatchShape::exact));
  EXPECT_FALSE(ServiceModel::make({{2, {5}}, {2, {6}}}, BatchShape::exact));
  EXPECT_FALSE(ServiceModel::make({{2, {5, 0}}}, BatchShape::exact));
}

TEST(SizeChange, is_dear_where_it_takes_more_than_the_largest_batch) {
  constexpr std::int64_t kMs = 1'000'000;
  const std::vector<WarmUpTimes> repeated{{1, {2 * kMs, 2 * kMs}}, {8, {6 * kMs, 6 * kMs}}};
  EXPECT_EQ(size_change_cost(repeated, std::vector<WarmUpTimes>{{1, {152 * kMs}}, {8, {156 * kMs}}}), 150 * kMs);
  EXPECT_FALSE(size_change_cost(repeated, std::vector<WarmUpTimes>{{1, {7 * kMs}}, {8, {11 * kMs}}})) << "5 ms each";
  EXPECT_FALSE(size_change_cost(repeated, std::vector<WarmUpTimes>{}));
}

TEST(SloSizing, half_the_slo_holds_the_batch_and_all_of_it_the_queue) {
  const auto model = detector(BatchShape::exact);
  EXPECT_EQ(slo_batch(model, 64, 60'000'000), 27U);
  EXPECT_EQ(slo_batch(model, 16, 60'000'000), 16U);
  EXPECT_EQ(slo_capacity(model, 27, 1, 60'000'000), 54U);  // 27 frames / 30 ms x 60 ms
  EXPECT_EQ(slo_capacity(model, 27, 2, 60'000'000), 108U);
  EXPECT_EQ(slo_batch(model, 64, 5'000'000), 1U);
  EXPECT_EQ(slo_capacity(model, 32, 1, 4'000'000), 1U);
}

TEST(SloSizing, an_slo_shorter_than_one_inference_is_refused) {
  const auto model = detector(BatchShape::exact);
  const auto batch = slo_batch(model, 64, 3'900'000);
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().message, "an SLO of 3.9 ms is shorter than one inference, 4 ms");
  EXPECT_FALSE(check_slo(model, 3'900'000));
  EXPECT_TRUE(check_slo(model, 4'000'000));
}

}  // namespace
}  // namespace ridgeline::stream
