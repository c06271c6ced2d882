// SPDX-License-Identifier: Apache-2.0
#include "campaign/stream/stream_verdict.hpp"

#include <gtest/gtest.h>

#include "fakes/stream_runs.hpp"
#include "fakes/words.hpp"
#include "schema/error_message.hpp"

namespace ridgeline::campaign {
namespace {

enum class Fate { held, missed, is_void };

schema::StreamRun measured_at(const std::vector<std::pair<double, Fate>>& rates) {
  auto run = fakes::stream_run("a", 100, 50);
  for (const auto& [rate, fate] : rates) {
    schema::StreamPoint point;
    point.rate_per_s = rate;
    point.status = run.status;
    point.status.delivered_per_s = rate;
    if (fate != Fate::held) point.status.latency.p99 = 80;
    if (fate == Fate::is_void) point.status.lateness = {5, 30, 0.6, 100};
    point.verdict = judge_stream(point.status, run.request);
    run.request.rates.push_back(rate);
    run.points.push_back(point);
  }
  choose_point(run);
  return run;
}

TEST(StreamVerdict, names_the_highest_rate_that_was_held) {
  const auto run = measured_at({{10, Fate::held}, {20, Fate::held}, {40, Fate::missed}, {80, Fate::held}});
  ASSERT_TRUE(run.verdict);
  EXPECT_FALSE(run.verdict->passed);
  EXPECT_EQ(run.verdict->held_per_s, 20) << "80 after a rate that was not held is chance";
  EXPECT_EQ(run.status.delivered_per_s, 20);
  EXPECT_EQ(run.request.spec.load->rate_per_s, 20);
  ASSERT_EQ(run.verdict->reasons.size(), 1U);
  EXPECT_EQ(fakes::text_of(run.verdict->reasons[0]), "40 FPS per source: p99 is 80.0 ms, above the SLO of 60 ms");
}

TEST(StreamVerdict, passes_when_the_highest_was_held) {
  EXPECT_TRUE(measured_at({{10, Fate::held}, {20, Fate::held}}).verdict->passed);
  EXPECT_TRUE(measured_at({{10, Fate::is_void}, {20, Fate::held}}).verdict->passed) << "a void one says nothing";
  const auto unknown = measured_at({{10, Fate::held}, {20, Fate::is_void}});
  EXPECT_FALSE(unknown.verdict->passed);
  EXPECT_EQ(unknown.verdict->held_per_s, 10);
}

TEST(StreamVerdict, is_no_answer_where_only_void_rates_are_in_its_way) {
  EXPECT_TRUE(measured_at({{10, Fate::held}, {20, Fate::is_void}}).is_void());
  EXPECT_TRUE(measured_at({{10, Fate::is_void}}).is_void());
  EXPECT_FALSE(measured_at({{10, Fate::is_void}, {20, Fate::missed}}).is_void());
  EXPECT_FALSE(measured_at({{10, Fate::missed}, {20, Fate::held}}).is_void());
  auto single = fakes::stream_run("a", 100, 50);
  EXPECT_FALSE(single.is_void());
  single.status.is_void = true;
  EXPECT_TRUE(single.is_void());
}

TEST(StreamVerdict, of_none_is_the_lowest_ones) {
  const auto run = measured_at({{10, Fate::missed}, {20, Fate::missed}});
  EXPECT_EQ(run.verdict->held_per_s, 0);
  EXPECT_EQ(run.status.delivered_per_s, 10);
}

/// Of 30 s at 100 frames a second, with an SLO of 60 ms; p99.9 of lateness 5 ms, 40 ms at most, 90 frames late.
schema::StreamRun late_run(double p99_ms, std::int64_t dropped) {
  auto run = fakes::stream_run("a", 100, p99_ms);
  run.request.most_drops = 0.001;
  run.status.offered = 3000;
  if (dropped > 0) run.status.dropped["deadline"] = dropped;
  run.status.lateness = {5, 40, 0.6, 90};
  run.status.audit = schema::lateness_message(*run.status.lateness, true, false);
  run.verdict = judge_stream(run.status, run.request);
  return run;
}

TEST(StreamVerdict, a_late_load_that_was_held_is_held) {
  const auto run = late_run(50, 0);
  EXPECT_TRUE(run.verdict->passed);
  EXPECT_FALSE(run.is_void());
  EXPECT_EQ(fakes::text_of(run.status.audit),
            "load generator: p99.9 of lateness 5.000 ms, above the limit of 0.600 ms; its thread has no priority here "
            "(CAP_SYS_NICE would give it), so keep a processor free for it; latencies count from when frames were due, "
            "so the load was kept up with in spite of it");
}

TEST(StreamVerdict, what_a_late_load_can_be_the_reason_of_is_void) {
  for (const auto& run : {late_run(80, 0), late_run(50, 93), late_run(100, 50)}) {
    EXPECT_FALSE(run.verdict->passed);
    EXPECT_TRUE(run.is_void());
    EXPECT_EQ(run.verdict->reasons.back(), run.status.audit);
    EXPECT_EQ(fakes::text_of(run.status.audit),
              "load generator: p99.9 of lateness 5.000 ms, above the limit of 0.600 ms; its thread has no priority "
              "here (CAP_SYS_NICE would give it), so keep a processor free for it");
  }
}

TEST(StreamVerdict, what_a_late_load_cannot_be_the_reason_of_is_not_void) {
  EXPECT_FALSE(late_run(101, 0).is_void()) << "60 ms and the 40 ms that a frame was late at most";
  EXPECT_FALSE(late_run(50, 94).is_void()) << "each of 90 late frames takes the place of one";
  auto run = fakes::stream_run("a", 100, 80);
  run.verdict = judge_stream(run.status, run.request);
  EXPECT_FALSE(run.is_void()) << "the load was not late";
  run = late_run(80, 0);
  run.status.failures = 1;
  run.verdict = judge_stream(run.status, run.request);
  EXPECT_FALSE(run.is_void()) << "inferences failed";
}

TEST(StreamVerdict, counts_late_frames_where_there_are_too_few_for_a_p99) {
  auto run = fakes::stream_run("a", 100, 50);
  run.status.latency.count = 300;
  run.status.latency.p99.reset();
  run.status.over_slo = 3;
  EXPECT_TRUE(judge_stream(run.status, run.request).passed);
  run.status.over_slo = 4;
  const auto verdict = judge_stream(run.status, run.request);
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(fakes::text_of(verdict.reasons.at(0)), "4 of 300 frames took longer than the SLO of 60 ms, more than 1 %");
}

TEST(StreamVerdict, failed_inferences_and_drops_are_not_held) {
  auto run = fakes::stream_run("a", 100, 50);
  run.request.most_drops = 0.01;
  EXPECT_TRUE(judge_stream(run.status, run.request).passed);
  run.status.dropped["queue_full"] = run.status.offered / 50;
  const auto dropped = judge_stream(run.status, run.request);
  EXPECT_FALSE(dropped.passed);
  EXPECT_EQ(fakes::text_of(dropped.reasons.at(0)), "2.00 % of the frames were dropped, above 1 %");
  run.status.dropped.clear();
  run.status.failures = 1;
  run.status.last_failure = schema::message_of({base::ErrorCode::internal, "out of memory"});
  EXPECT_EQ(fakes::text_of(judge_stream(run.status, run.request).reasons.at(0)),
            "1 inferences failed, the last with: out of memory");
  run.status.failures = 0;
  run.status.checks = {{"counts", false, run.status.last_failure}};
  EXPECT_EQ(fakes::text_of(judge_stream(run.status, run.request).reasons.at(0)),
            "the pipeline's own check \"counts\" failed: out of memory");
}

}  // namespace
}  // namespace ridgeline::campaign
