// SPDX-License-Identifier: Apache-2.0
#include "stream/stream_scheduler.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace ridgeline::stream {
namespace {

/// A scheduler whose batches take 10 + 10 n, and the results that it let go.
class StreamSchedulerTest : public ::testing::Test {
 protected:
  void make(DispatcherOptions options, std::size_t window = 100) {
    auto model = ServiceModel::make({{1, {20}}, {4, {50}}}, BatchShape::exact).value();
    scheduler_.emplace(StreamScheduler::make(options, std::move(model), window).value());
  }
  static Frame frame(std::uint32_t source, std::uint64_t sequence, std::int64_t intended, std::int64_t deadline = 0) {
    Frame made;
    made.source = source;
    made.sequence = sequence;
    made.intended_ns = intended;
    made.deadline_ns = deadline;
    return made;
  }
  std::vector<FrameResult> results() {
    std::vector<FrameResult> taken;
    scheduler_->take_results(taken);
    return taken;
  }

  std::optional<StreamScheduler> scheduler_;
};

TEST_F(StreamSchedulerTest, follows_a_frame_through_all_stages) {
  make({.workers = 2, .max_batch = 1});
  ASSERT_EQ(scheduler_->offer(frame(0, 0, 90), 100), Admission::accepted);
  ASSERT_TRUE(scheduler_->poll(105));
  ASSERT_EQ(scheduler_->launches().size(), 1U);
  ASSERT_EQ(scheduler_->offer(frame(0, 1, 106), 106), Admission::accepted);
  ASSERT_TRUE(scheduler_->poll(106));
  ASSERT_TRUE(scheduler_->complete(1, 126));  // the second overtakes the first
  EXPECT_TRUE(results().empty());
  ASSERT_TRUE(scheduler_->complete(0, 130));
  const auto left = results();
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[0].launched_ns, 105);
  EXPECT_EQ(left[1].done_ns, 126);
  EXPECT_EQ(left[1].left_ns, 130);
  const auto& stages = scheduler_->meter().stages();
  EXPECT_EQ(stages.late.max(), 10);
  EXPECT_EQ(stages.queue.max(), 5);
  EXPECT_EQ(stages.service.max(), 25);
  EXPECT_EQ(stages.order.max(), 4);
  EXPECT_EQ(stages.latency.max(), 40);
  EXPECT_TRUE(scheduler_->meter().stage_sum().passed);
  EXPECT_TRUE(scheduler_->meter().littles_law().passed);
}

TEST_F(StreamSchedulerTest, whatever_happens_to_a_frame_it_leaves_once_and_is_counted) {
  make({.max_batch = 1, .capacity = 2, .drop_policy = DropPolicy::newest, .give_up_after_ns = 50});
  ASSERT_TRUE(scheduler_->offer(frame(0, 0, 0, 100), 0));
  ASSERT_TRUE(scheduler_->poll(0));                          // 0 runs, and is given up on
  ASSERT_TRUE(scheduler_->offer(frame(0, 1, 0, 30), 0));     // 1 expires
  ASSERT_TRUE(scheduler_->offer(frame(0, 2, 0, 10000), 0));  // 2 fails
  ASSERT_EQ(scheduler_->offer(frame(0, 3, 0), 0), Admission::refused);
  ASSERT_EQ(scheduler_->dropped().size(), 1U);  // long before it leaves
  EXPECT_EQ(scheduler_->dropped()[0].frame.sequence, 3U);
  ASSERT_TRUE(scheduler_->poll(40));
  ASSERT_TRUE(scheduler_->poll(150));
  ASSERT_TRUE(scheduler_->complete(0, 200));
  ASSERT_TRUE(scheduler_->poll(200));
  ASSERT_TRUE(scheduler_->complete(0, 220, DropReason::failed));
  ASSERT_TRUE(scheduler_->offer(frame(0, 4, 220), 220));
  ASSERT_TRUE(scheduler_->poll(220));  // 4 is in flight
  ASSERT_TRUE(scheduler_->offer(frame(0, 5, 220), 220));
  ASSERT_TRUE(scheduler_->stop(230));      // 5 waits
  EXPECT_EQ(scheduler_->in_flight(), 2U);  // 5 behind 4
  EXPECT_TRUE(scheduler_->meter().counts(scheduler_->in_flight()).passed);
  EXPECT_FALSE(scheduler_->meter().counts(scheduler_->in_flight() + 1).passed);
  ASSERT_TRUE(scheduler_->complete(0, 240));

  const std::vector<std::optional<DropReason>> expected{
      DropReason::timeout, DropReason::deadline, DropReason::failed, DropReason::queue_full, {}, DropReason::stopped};
  std::vector<std::optional<DropReason>> reasons;
  for (const auto& result : results()) reasons.push_back(result.dropped);
  EXPECT_EQ(reasons, expected);
  EXPECT_EQ(scheduler_->meter().counters().offered, 6U);
  EXPECT_EQ(scheduler_->meter().counters().all_dropped(), 5U);
  EXPECT_TRUE(scheduler_->meter().counts(scheduler_->in_flight()).passed);
}

TEST_F(StreamSchedulerTest, a_frame_waits_outside_while_the_order_is_full) {
  make({.workers = 2, .max_batch = 1}, 2);
  ASSERT_EQ(scheduler_->offer(frame(0, 0, 0), 0), Admission::accepted);
  ASSERT_EQ(scheduler_->offer(frame(0, 1, 0), 0), Admission::accepted);
  ASSERT_TRUE(scheduler_->poll(0));
  ASSERT_TRUE(scheduler_->complete(1, 20));
  EXPECT_FALSE(scheduler_->has_room(0));
  EXPECT_EQ(scheduler_->offer(frame(0, 2, 20), 20), Admission::must_wait);
  EXPECT_EQ(scheduler_->meter().counters().offered, 2U);
  ASSERT_TRUE(scheduler_->complete(0, 30));
  EXPECT_EQ(scheduler_->offer(frame(0, 2, 20), 30), Admission::accepted);
}

TEST_F(StreamSchedulerTest, a_number_out_of_turn_is_an_error) {
  make({});
  EXPECT_FALSE(scheduler_->offer(frame(0, 1, 0), 0));
}

TEST_F(StreamSchedulerTest, a_frame_without_a_picture_leaves_in_its_turn) {
  make({});
  ASSERT_TRUE(scheduler_->offer(frame(0, 0, 0), 0));
  ASSERT_TRUE(scheduler_->poll(0));
  ASSERT_TRUE(scheduler_->offer_gap(frame(0, 1, 1), DropReason::damaged, 1));
  ASSERT_TRUE(scheduler_->offer_gap(frame(1, 0, 1), DropReason::damaged, 1));
  EXPECT_EQ(scheduler_->in_flight(), 2U) << "the other source has none before it";
  ASSERT_EQ(results().size(), 1U);
  ASSERT_TRUE(scheduler_->complete(0, 20));
  const auto left = results();
  ASSERT_EQ(left.size(), 2U);
  EXPECT_FALSE(left[0].dropped);
  EXPECT_EQ(left[1].dropped, DropReason::damaged);
  EXPECT_EQ(left[1].left_ns, 20);
  EXPECT_EQ(scheduler_->meter().counters().offered, 3U);
  EXPECT_EQ(scheduler_->meter().counters().dropped_for(DropReason::damaged), 2U);
  EXPECT_TRUE(scheduler_->meter().counts(scheduler_->in_flight()).passed);
}

TEST_F(StreamSchedulerTest, a_skipped_frame_leaves_after_those_before_it) {
  make({.workers = 1, .max_batch = 1}, 2);
  ASSERT_EQ(scheduler_->offer(frame(0, 0, 100), 100), Admission::accepted);
  ASSERT_TRUE(scheduler_->poll(100));
  ASSERT_EQ(scheduler_->skip(frame(0, 1, 101), 101), Admission::accepted);
  EXPECT_EQ(scheduler_->skip(frame(0, 2, 102), 102), Admission::must_wait) << "the order has no room";
  EXPECT_TRUE(results().empty());
  ASSERT_TRUE(scheduler_->complete(0, 120));
  const auto left = results();
  ASSERT_EQ(left.size(), 2U);
  EXPECT_FALSE(left[0].dropped);
  EXPECT_EQ(left[1].dropped, DropReason::skipped);
  EXPECT_EQ(scheduler_->meter().counters().dropped_for(DropReason::skipped), 1U);
  EXPECT_TRUE(scheduler_->meter().counts(scheduler_->in_flight()).passed);
  EXPECT_TRUE(scheduler_->meter().littles_law().passed);
}

}  // namespace
}  // namespace ridgeline::stream
