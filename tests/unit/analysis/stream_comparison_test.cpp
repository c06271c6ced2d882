// SPDX-License-Identifier: Apache-2.0
#include "analysis/stream_comparison.hpp"

#include <gtest/gtest.h>

#include "fakes/stream_runs.hpp"

namespace ridgeline::analysis {
namespace {

using schema::Verdict;

constexpr double kEffect = 0.02;

schema::StreamRun at_its_peak(schema::StreamRun run) {
  run.request.spec.load->process = "offline";
  return run;
}

TEST(StreamComparison, judges_the_peak_by_throughput) {
  const auto a = at_its_peak(fakes::stream_run("a", 100, 50));
  const auto found = compare_streams(a, at_its_peak(fakes::stream_run("b", 120, 50, 30, 2)), kEffect);
  EXPECT_EQ(found.objective, "throughput");
  EXPECT_EQ(found.total.verdict, Verdict::faster);
  EXPECT_NEAR(found.total.ratio, 1.2, 0.02);
  EXPECT_LT(found.total.low, 1.2);
  EXPECT_GT(found.total.high, 1.2);
  EXPECT_EQ(found.seconds_a, 29) << "the first second fills the pipeline";
  EXPECT_EQ(compare_streams(at_its_peak(fakes::stream_run("b", 120, 50)), a, kEffect).total.verdict, Verdict::slower);
  EXPECT_EQ(compare_streams(a, at_its_peak(fakes::stream_run("b", 100, 50, 30, 2)), 0.05).total.verdict,
            Verdict::no_difference);
}

TEST(StreamComparison, judges_a_load_by_its_p99) {
  const auto a = fakes::stream_run("a", 100, 50);
  const auto found = compare_streams(a, fakes::stream_run("b", 100, 40, 30, 2), kEffect);
  EXPECT_EQ(found.objective, "p99");
  EXPECT_EQ(found.total.verdict, Verdict::faster);
  EXPECT_NEAR(found.total.ratio, 1.25, 0.02);
  EXPECT_EQ(compare_streams(a, fakes::stream_run("b", 100, 60, 30, 2), kEffect).total.verdict, Verdict::slower);
}

TEST(StreamComparison, judges_by_the_percentile_that_both_have_frames_for) {
  auto a = fakes::stream_run("a", 100, 50);
  auto b = fakes::stream_run("b", 100, 40, 30, 2);
  // Two readings are no interval.
  for (auto* run : {&a, &b})
    for (auto& moment : run->moments)
      if (moment.at_s != 11 && moment.at_s != 21) moment.p99.reset();
  const auto found = compare_streams(a, b, kEffect);
  EXPECT_EQ(found.objective, "p95");
  EXPECT_EQ(found.total.verdict, Verdict::faster);
  ASSERT_EQ(found.figures.size(), 4U);
  EXPECT_EQ(found.figures.back().comparison.verdict, Verdict::inconclusive);
  b.status.latency.p99.reset();
  b.status.latency.p95.reset();
  const auto few = compare_streams(a, b, kEffect);
  EXPECT_EQ(few.objective, "p50");
  EXPECT_EQ(few.figures.size(), 2U) << "throughput and p50";
}

TEST(StreamComparison, more_drops_are_worse_whatever_the_latency) {
  const auto a = fakes::stream_run("a", 100, 50);
  auto b = fakes::stream_run("b", 90, 30, 30, 2);
  b.status.dropped["deadline"] = b.status.offered / 10;
  for (auto& moment : b.moments) moment.dropped_per_s = 10;
  const auto found = compare_streams(a, b, kEffect);
  EXPECT_TRUE(found.drops.is_worse);
  EXPECT_NEAR(found.drops.b, 0.1, 1e-3);
  EXPECT_EQ(found.total.verdict, Verdict::slower);
  EXPECT_FALSE(compare_streams(b, a, kEffect).drops.is_worse);
}

TEST(StreamComparison, a_few_seconds_say_nothing) {
  const auto found = compare_streams(fakes::stream_run("a", 100, 50, 3), fakes::stream_run("b", 50, 90), kEffect);
  EXPECT_EQ(found.seconds_a, 2);
  EXPECT_EQ(found.total.verdict, Verdict::inconclusive);
  EXPECT_FALSE(found.drops.is_known);
  EXPECT_EQ(compare_streams(fakes::stream_run("a", 100, 50, 0), fakes::stream_run("b", 50, 90), kEffect).total.verdict,
            Verdict::inconclusive);
}

TEST(StreamComparison, leaves_out_what_was_no_second) {
  auto a = fakes::stream_run("a", 100, 50, 10);
  a.moments.push_back({10.2, 0, 5, 0, 0, {}, {}, {}, {}});
  EXPECT_EQ(compare_streams(a, fakes::stream_run("b", 100, 50), kEffect).seconds_a, 9);
}

}  // namespace
}  // namespace ridgeline::analysis
