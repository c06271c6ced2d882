// SPDX-License-Identifier: Apache-2.0
#include "execute/stream_summary.hpp"

#include <gtest/gtest.h>

namespace ridgeline::execute {
namespace {

TEST(StreamSummary, busy_is_the_share_of_all_workers_time) {
  stream::PipelineStatus status;
  status.workers.workers = 2;
  status.meter.enter(0);
  status.meter.launch(1, 0);
  status.meter.complete(10'000'000);
  stream::FrameResult result;
  result.batch = 1;
  result.done_ns = result.left_ns = 10'000'000;
  status.meter.leave(result);
  const auto summary = summarize(status, 1);
  EXPECT_DOUBLE_EQ(summary.busy_workers, 1);
  EXPECT_DOUBLE_EQ(summary.busy, 0.5) << "one of two had work";
  EXPECT_EQ(summary.delivered, 1);
  EXPECT_NEAR(summary.latency.p50, 10, 0.1);
}

}  // namespace
}  // namespace ridgeline::execute
