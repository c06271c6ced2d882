// SPDX-License-Identifier: Apache-2.0
#include "workload/output_spread.hpp"
#include "fakes/words.hpp"

#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ridgeline::workload {
namespace {

constexpr int kCalls = 16;

NamedTensor tensor(const std::vector<float>& values, std::string name = "y") {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {std::move(name), "float", {static_cast<std::int64_t>(values.size())}, std::move(bytes)};
}

/// Values that every call of a right configuration shares, with noise of deviation 1 around them.
class OutputSpreadTest : public ::testing::Test {
 protected:
  OutputSpreadTest() {
    for (int at = 0; at < 200; ++at) signal_.push_back(static_cast<float>(3 * random_.normal()));
  }
  OutputSet call(const std::function<float(std::size_t, float)>& change = {}) {
    std::vector<float> values;
    for (std::size_t at = 0; at < signal_.size(); ++at) {
      const auto noise = static_cast<float>(random_.normal());
      values.push_back(change ? change(at, noise) : signal_[at] + noise);
    }
    return {tensor(values)};
  }
  OutputSet reference() {
    auto first = call();
    SpreadCollector collector(first, {0});
    for (int at = 0; at < kCalls; ++at) collector.add_centre(call());
    for (int at = 0; at < kCalls; ++at) collector.add_call(call());
    EXPECT_EQ(fakes::text_of(collector.trend()), "");
    collector.write_to(first);
    return first;
  }
  schema::SpreadError compared(const std::function<float(std::size_t, float)>& change = {}) {
    const auto known = reference();
    SpreadComparison comparison(known);
    EXPECT_EQ(comparison.calls(), kCalls);
    for (int at = 0; at < kCalls; ++at) comparison.add(call(change));
    return comparison.worst().value_or(schema::SpreadError{});
  }

  base::Random random_{5};
  std::vector<float> signal_;
};

TEST_F(OutputSpreadTest, other_random_numbers_of_the_same_distribution_are_near) {
  const auto found = compared();
  EXPECT_LT(found.distance, 5);
  EXPECT_EQ(found.calls, kCalls);
  EXPECT_EQ(found.output, "y");
}

TEST_F(OutputSpreadTest, what_is_wrong_is_far_whatever_it_is) {
  const auto far = [&](const std::function<float(std::size_t, float)>& change) { return compared(change).distance; };
  EXPECT_GT(far([&](std::size_t at, float noise) { return signal_[at] + noise + 1.0F; }), 20) << "shifted";
  EXPECT_GT(far([&](std::size_t at, float noise) { return signal_[at] + 2 * noise; }), 20) << "more noise";
  EXPECT_GT(far([&](std::size_t at, float) { return signal_[at]; }), 20) << "no noise";
  EXPECT_GT(far([&](std::size_t at, float noise) { return signal_[199 - at] + noise; }), 20) << "other places";
  EXPECT_GT(far([](std::size_t, float noise) { return 3.16F * noise; }), 20) << "the right deviation, but no signal";
}

TEST_F(OutputSpreadTest, without_an_offset_a_scalar_is_judged_by_what_it_scatters_over) {
  signal_ = {0};
  EXPECT_LT(compared().distance, 6);
  EXPECT_GT(compared([](std::size_t, float noise) { return noise + 9; }).distance, 12);
}

TEST_F(OutputSpreadTest, sizes_that_change_are_a_statistic) {
  const auto of_size = [&](std::size_t most) {
    return OutputSet{tensor(std::vector<float>(1 + random_.below(most), 2.0F))};
  };
  auto known = of_size(50);
  SpreadCollector collector(known, {0});
  for (int at = 0; at < kCalls; ++at) collector.add_centre(of_size(50));
  for (int at = 0; at < kCalls; ++at) collector.add_call(of_size(50));
  collector.write_to(known);
  EXPECT_TRUE(known[0].spread->centre.empty());
  SpreadComparison alike(known);
  SpreadComparison longer(known);
  for (int at = 0; at < kCalls; ++at) {
    alike.add(of_size(50));
    longer.add({tensor(std::vector<float>(400, 2.0F))});
  }
  EXPECT_LT(alike.worst()->distance, 6);
  EXPECT_GT(longer.worst()->distance, 20);
  EXPECT_EQ(longer.worst()->statistic, schema::OutputStatistic::elements);
  EXPECT_FALSE(compare_outputs(known, of_size(400)).shape_mismatch);
}

TEST_F(OutputSpreadTest, what_goes_one_way_in_both_sessions_is_no_chance) {
  const auto grows = [](int calls) {
    return OutputSet{tensor(std::vector<float>(static_cast<std::size_t>(calls), 1))};
  };
  SpreadCollector sizes(grows(1), {0});
  for (int at = 0; at < 8; ++at) sizes.add_centre(grows(at + 1));
  for (int at = 0; at < 8; ++at) sizes.add_call(grows(at + 1));
  EXPECT_EQ(fakes::text_of(sizes.trend()), "output \"y\" grows with each call, from a size of 1 to 8 over 8 calls");
  const auto falls = [](int calls) {
    return OutputSet{tensor({-0.5F * static_cast<float>(calls)}, "z (second inputs)")};
  };
  SpreadCollector means(falls(1), {0});
  for (int at = 0; at < 8; ++at) means.add_centre(falls(at));
  for (int at = 0; at < 8; ++at) means.add_call(falls(at));
  EXPECT_EQ(fakes::text_of(means.trend()), "output \"z\" falls with each call, from a mean of 0 to -3.5 over 8 calls");
  EXPECT_EQ(means.names(), std::vector<std::string>{"z"});
}

TEST_F(OutputSpreadTest, text_has_no_distribution) {
  const OutputSet text{{"label", "string", {1}, std::string("cat\0", 4)}};
  EXPECT_EQ(SpreadCollector(text, {0}).unjudged(), "label");
  EXPECT_EQ(SpreadCollector(call(), {0}).unjudged(), "");
}

TEST_F(OutputSpreadTest, of_what_is_judged_so_only_the_form_is_compared) {
  const auto known = reference();
  EXPECT_EQ(compare_outputs(known, call()).scaled_max_abs, 0);
  EXPECT_TRUE(compare_outputs(known, {tensor({1, 2})}).shape_mismatch);
  auto broken = call([](std::size_t at, float noise) { return at == 3 ? std::nanf("") : noise; });
  EXPECT_EQ(compare_outputs(known, broken).nan_mismatches, 1);
  EXPECT_EQ(compare_outputs(known, broken).worst_output, "y");
}

TEST_F(OutputSpreadTest, what_varies_differs_by_more_than_rounding) {
  const OutputSet one{tensor({1, 2, 3}), tensor({1, 2, 3}, "z")};
  EXPECT_TRUE(varying_outputs(one, {tensor({1, 2, 3.0001F}), tensor({1, 2, 3}, "z")}).empty());
  EXPECT_EQ(varying_outputs(one, {tensor({1, 2, 3}), tensor({1, 2.5F, 3}, "z")}), std::vector<std::size_t>{1});
  EXPECT_EQ(varying_outputs(one, {tensor({1, 2}), tensor({1, 2, 3}, "z")}), std::vector<std::size_t>{0});
}

}  // namespace
}  // namespace ridgeline::workload
