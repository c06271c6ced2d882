// SPDX-License-Identifier: Apache-2.0
#include "analysis/load_curve.hpp"

#include <gtest/gtest.h>

#include "gpu_run_builder.hpp"

namespace ridgeline::analysis {
namespace {

class LoadCurves : public ::testing::Test {
 protected:
  /// A trial of `batch` items in `sessions` sessions side by side.
  schema::Measurement& load(std::int64_t batch, std::int64_t sessions, double median_ms, double memory_gb) {
    auto& measurement = builder_.add_gpu({{"batch_size", batch}, {"parallel_sessions", sessions}}, median_ms, 90);
    measurement.items_per_inference = static_cast<double>(batch);
    measurement.concurrency = static_cast<int>(sessions);
    measurement.wall_ns /= static_cast<double>(sessions);
    if (memory_gb > 0) measurement.metrics["gpu_memory_gb"] = memory_gb;
    return measurement;
  }
  void sweep() {
    load(1, 1, 1, 1);    // trial 1: 1000 items/s
    load(8, 1, 2, 1.6);  // trial 2: 4000 items/s, 2500 a GB
    load(64, 1, 10, 4);  // trial 3: 6400 items/s
    load(8, 2, 3, 2.5);  // trial 4: 5333 items/s
    builder_.add_failed({{"batch_size", 512}}, schema::TrialStatus::out_of_memory, "out of memory");
  }
  const LoadCurve& curve() {
    ranking_ = rank(builder_.run, builder_.outcomes);
    curve_ = load_curve(builder_.run, builder_.outcomes, ranking_);
    return curve_;
  }

  GpuRunBuilder builder_;
  std::vector<RankedTrial> ranking_;
  LoadCurve curve_;
};

TEST_F(LoadCurves, are_empty_for_one_load) {
  load(1, 1, 1, 1);
  load(1, 1, 2, 1);
  EXPECT_TRUE(curve().points.empty());
  EXPECT_EQ(curve().highest_throughput, nullptr);
}

TEST_F(LoadCurves, answer_each_question_with_a_trial) {
  sweep();
  const auto& found = curve();
  ASSERT_NE(found.highest_throughput, nullptr);
  EXPECT_EQ(found.highest_throughput->trial->id, 3);
  EXPECT_EQ(found.lowest_latency->trial->id, 1);
  EXPECT_EQ(found.per_gb->trial->id, 2);
  EXPECT_FALSE(found.has_latency_limit);
  EXPECT_EQ(found.within_limit, nullptr);
  EXPECT_EQ(found.front, (std::vector<int>{1, 2, 4, 3}));
}

TEST_F(LoadCurves, keep_the_latency_limit_when_there_is_one) {
  sweep();
  builder_.run.request.constraints = {{"latency_median_ms", true, 5}};
  EXPECT_TRUE(curve().has_latency_limit);
  ASSERT_NE(curve().within_limit, nullptr);
  EXPECT_EQ(curve().within_limit->trial->id, 4);
  EXPECT_EQ(curve().highest_throughput->trial->id, 3) << "the others are not about latency";
  builder_.run.request.constraints = {{"latency_median_ms", true, 0.5}};
  EXPECT_TRUE(curve().has_latency_limit);
  EXPECT_EQ(curve().within_limit, nullptr);
}

TEST_F(LoadCurves, leave_out_what_breaks_another_constraint) {
  sweep();
  builder_.run.request.constraints = {{"gpu_memory_gb", true, 3}};
  EXPECT_EQ(curve().highest_throughput->trial->id, 4);
}

TEST_F(LoadCurves, keep_the_best_trial_of_a_load_and_the_loads_that_failed) {
  sweep();
  load(8, 1, 1.9, 1.6);  // trial 6, better than trial 2
  const auto& points = curve().points;
  ASSERT_EQ(points.size(), 5U);
  EXPECT_EQ(points[1].trial->id, 6);
  EXPECT_EQ(points[3].batch, 512);
  EXPECT_EQ(points[3].ranked, nullptr);
  EXPECT_EQ(points[3].outcome->status, schema::TrialStatus::out_of_memory);
  EXPECT_EQ(points[4].sessions, 2);
}

TEST_F(LoadCurves, prefer_what_meets_the_constraints_within_a_load) {
  load(1, 1, 1, 1);
  load(64, 1, 10, 8);  // trial 2, the fastest
  load(64, 1, 12, 3);  // trial 3
  builder_.run.request.constraints = {{"gpu_memory_gb", true, 4}};
  const auto& found = curve();
  ASSERT_EQ(found.points.size(), 2U);
  EXPECT_EQ(found.points[1].trial->id, 3);
  EXPECT_EQ(found.highest_throughput->trial->id, 3);
  EXPECT_EQ(found.front, (std::vector<int>{1, 3}));
}

TEST_F(LoadCurves, keep_the_fastest_breaker_of_a_load_off_the_front) {
  load(1, 1, 1, 1);
  load(64, 1, 12, 7);
  load(64, 1, 10, 8);  // trial 3
  builder_.run.request.constraints = {{"gpu_memory_gb", true, 4}};
  const auto& found = curve();
  ASSERT_EQ(found.points.size(), 2U);
  EXPECT_EQ(found.points[1].trial->id, 3);
  EXPECT_EQ(found.front, std::vector<int>{1});
}

TEST_F(LoadCurves, hold_a_point_for_an_answer_that_is_not_the_best_of_its_load) {
  load(1, 1, 1, 1);
  load(8, 1, 2, 4);    // trial 2: 4000 items/s, 1000 a GB
  load(8, 1, 2.5, 1);  // trial 3: 3200 items/s and a GB
  load(64, 1, 10, 4);
  const auto& found = curve();
  EXPECT_EQ(found.per_gb->trial->id, 3);
  ASSERT_EQ(found.points.size(), 4U);
  EXPECT_EQ(found.points[1].trial->id, 2);
  EXPECT_TRUE(found.points[1].best_of_load);
  EXPECT_EQ(found.points[2].trial->id, 3);
  EXPECT_FALSE(found.points[2].best_of_load);
  EXPECT_EQ(found.points[2].memory_gb, 1.0);
  EXPECT_EQ(found.front, (std::vector<int>{1, 2, 4}));
}

TEST_F(LoadCurves, tell_of_one_load_what_is_fastest_and_what_is_within_the_limit) {
  load(1, 1, 1, 1);
  load(64, 1, 10, 4);                // trial 2: 6400 items/s
  load(64, 1, 8, 4).wall_ns *= 1.5;  // trial 3: 5333 items/s
  builder_.run.request.constraints = {{"latency_median_ms", true, 9}};
  const auto& found = curve();
  EXPECT_EQ(found.highest_throughput->trial->id, 2);
  EXPECT_EQ(found.within_limit->trial->id, 3);
  ASSERT_EQ(found.points.size(), 3U);
  EXPECT_EQ(found.points[1].trial->id, 3);
  EXPECT_EQ(found.points[2].trial->id, 2);
  EXPECT_FALSE(found.points[2].best_of_load);
  EXPECT_EQ(found.front, (std::vector<int>{1, 3}));
}

TEST_F(LoadCurves, do_not_judge_by_memory_that_is_not_known) {
  load(1, 1, 1, 0);
  load(8, 1, 2, 0);
  EXPECT_EQ(curve().per_gb, nullptr);
  EXPECT_NE(curve().highest_throughput, nullptr);
}

}  // namespace
}  // namespace ridgeline::analysis
