// SPDX-License-Identifier: Apache-2.0
#include "loader/sampler.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace ridgeline::loader {
namespace {

Sampler sampler(std::uint64_t samples, SamplerOptions options, std::uint64_t per_chunk = 10) {
  return *Sampler::make(samples, per_chunk, std::move(options));
}

std::vector<std::uint64_t> counting(std::uint64_t samples) {
  std::vector<std::uint64_t> all(samples);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> order) {
  std::sort(order.begin(), order.end());
  return order;
}

TEST(Sampler, sequential_counts) { EXPECT_EQ(sampler(7, {SampleOrder::sequential}).epoch(3), counting(7)); }

TEST(Sampler, a_shuffle_holds_every_sample_once_and_changes_with_seed_and_epoch) {
  const auto shuffled = sampler(1000, {SampleOrder::shuffled, 5});
  EXPECT_EQ(sorted(shuffled.epoch(0)), counting(1000));
  EXPECT_EQ(shuffled.epoch(2), shuffled.epoch(2));
  EXPECT_NE(shuffled.epoch(0), shuffled.epoch(1));
  EXPECT_NE(shuffled.epoch(0), sampler(1000, {SampleOrder::shuffled, 6}).epoch(0));
}

/// The documented algorithm, worked out by an independent program in Python: these orders never change.
TEST(Sampler, a_shuffle_is_the_documented_one) {
  EXPECT_EQ(sampler(8, {SampleOrder::shuffled, 0}).epoch(0), (std::vector<std::uint64_t>{7, 4, 3, 6, 0, 5, 1, 2}));
  EXPECT_EQ(sampler(8, {SampleOrder::shuffled, 42}).epoch(1), (std::vector<std::uint64_t>{6, 3, 4, 2, 7, 1, 5, 0}));
}

TEST(Sampler, every_order_is_equally_likely) {
  std::map<std::vector<std::uint64_t>, int> seen;
  constexpr int kRuns = 24000;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) ++seen[sampler(4, {SampleOrder::shuffled, seed}).epoch(0)];
  ASSERT_EQ(seen.size(), 24U);
  double chi_square = 0;
  for (const auto& [order, count] : seen) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 49.7);  // 99.9 % quantile, 23 degrees of freedom
}

TEST(Sampler, shuffled_chunks_stay_within_their_window) {
  SamplerOptions options{SampleOrder::shuffled_chunks, 9};
  options.window_chunks = 3;
  const auto order = sampler(95, options).epoch(0);
  EXPECT_EQ(sorted(order), counting(95));
  EXPECT_NE(order, counting(95));
  std::map<std::uint64_t, std::set<std::size_t>> windows;  // chunk -> windows of the order that it appears in
  std::size_t begin = 0;
  std::set<std::uint64_t> chunks;
  std::size_t window = 0;
  for (std::size_t i = begin; i < order.size(); ++i) {
    chunks.insert(order[i] / 10);
    if (chunks.size() > 3) {
      chunks = {order[i] / 10};
      ++window;
    }
    windows[order[i] / 10].insert(window);
  }
  for (const auto& [chunk, in] : windows) EXPECT_EQ(in.size(), 1U) << "chunk " << chunk;
}

TEST(Sampler, a_given_order_is_kept_and_checked) {
  SamplerOptions options{SampleOrder::given};
  options.given = {3, 1, 3};
  EXPECT_EQ(sampler(4, options).epoch(7), options.given);
  EXPECT_EQ(sampler(4, options).size(), 3U);
  const auto outside = Sampler::make(3, 1, options);
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().message, "sample 3 in the given order: there are 3");
}

TEST(Sampler, an_empty_dataset_has_empty_epochs) { EXPECT_TRUE(sampler(0, {SampleOrder::shuffled}).epoch(0).empty()); }

}  // namespace
}  // namespace ridgeline::loader
