// SPDX-License-Identifier: Apache-2.0
#include "stream/dispatcher.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace ridgeline::stream {
namespace {

/// A dispatcher whose batches take 10 + 10 n, with frames of source 0. Times are small numbers, for reading.
class DispatcherTest : public ::testing::Test {
 protected:
  void make(DispatcherOptions options, BatchShape shape = BatchShape::exact) {
    dispatcher_.emplace(
        Dispatcher::make(options, ServiceModel::make({{1, {20}}, {4, {50}}, {8, {90}}}, shape).value()).value());
  }
  Admitted offer(std::int64_t now, std::int64_t deadline = 0, std::uint32_t source = 0) {
    Frame frame;
    frame.source = source;
    frame.sequence = next_++;
    frame.intended_ns = now;
    frame.deadline_ns = deadline;
    return dispatcher_->offer(frame, now);
  }
  const Decisions& poll(std::int64_t now) {
    dispatcher_->poll(now, decisions_);
    return decisions_;
  }
  /// How many frames the only launch of a poll has; 0 without one.
  std::size_t launched(std::int64_t now) {
    poll(now);
    EXPECT_LE(decisions_.launches.size(), 1U);
    return decisions_.launches.empty() ? 0 : decisions_.launches.front().frames.size();
  }

  std::optional<Dispatcher> dispatcher_;
  Decisions decisions_;
  std::uint64_t next_ = 0;
};

TEST_F(DispatcherTest, launches_at_once_what_is_there_up_to_the_largest_batch) {
  make({.workers = 2, .max_batch = 4});
  offer(0);
  EXPECT_EQ(launched(0), 1U);
  for (int i = 0; i < 6; ++i) offer(1);
  EXPECT_EQ(launched(1), 4U);
  EXPECT_EQ(decisions_.launches.front().worker, 1U);
  EXPECT_FALSE(decisions_.wake_ns);
  EXPECT_EQ(dispatcher_->queued(), 2U);
  const auto completion = dispatcher_->complete(0, 20, true);
  ASSERT_TRUE(completion);
  EXPECT_EQ(completion->frames.size(), 1U);
  EXPECT_EQ(completion->launched_ns, 0);
  EXPECT_EQ(launched(20), 2U);
  EXPECT_EQ(decisions_.launches.front().worker, 0U);
}

TEST_F(DispatcherTest, a_timeout_waits_for_a_fuller_batch_while_a_worker_is_idle) {
  make({.max_batch = 4, .frame_timeout_ns = 30});
  offer(100);
  EXPECT_EQ(launched(100), 0U);
  EXPECT_EQ(decisions_.wake_ns, 130);
  offer(110);
  EXPECT_EQ(launched(129), 0U);
  EXPECT_EQ(launched(130), 2U);
  for (int i = 0; i < 4; ++i) offer(131);
  ASSERT_TRUE(dispatcher_->complete(0, 160, true));
  EXPECT_EQ(launched(160), 4U);  // full: no wait
}

TEST_F(DispatcherTest, a_frame_that_waited_for_a_worker_waits_no_longer) {
  make({.max_batch = 4, .frame_timeout_ns = 30});
  for (int i = 0; i < 4; ++i) offer(0);
  EXPECT_EQ(launched(0), 4U);
  offer(1);
  ASSERT_TRUE(dispatcher_->complete(0, 50, true));
  EXPECT_EQ(launched(50), 1U);
}

TEST_F(DispatcherTest, nothing_waits_for_frames_that_cannot_come) {
  make({.max_batch = 8, .capacity = 2, .drop_policy = DropPolicy::none, .frame_timeout_ns = 1000});
  offer(0);
  EXPECT_EQ(launched(0), 0U);
  offer(0);
  EXPECT_EQ(launched(0), 2U);  // the queue is full
  ASSERT_TRUE(dispatcher_->complete(0, 50, true));
  offer(50);
  EXPECT_EQ(launched(50), 0U);
  dispatcher_->drain();
  EXPECT_EQ(launched(50), 1U);
}

TEST_F(DispatcherTest, slack_launches_when_one_frame_more_would_be_late) {
  make({.max_batch = 8, .use_slack = true, .guard_ns = 5});
  offer(0, 200);
  EXPECT_EQ(launched(0), 0U);
  EXPECT_EQ(decisions_.wake_ns, 200 - 30 - 5);
  offer(100, 300);
  EXPECT_EQ(launched(100), 0U);
  EXPECT_EQ(decisions_.wake_ns, 200 - 40 - 5);
  EXPECT_EQ(launched(155), 2U);
}

TEST_F(DispatcherTest, drops_at_launch_what_would_be_late_by_prediction) {
  make({.max_batch = 4});
  offer(0, 1000);
  EXPECT_EQ(launched(0), 1U);
  offer(1, 69);  // a batch of 4 would be done at 70
  offer(1, 70);
  for (int i = 0; i < 3; ++i) offer(1, 1000);
  ASSERT_TRUE(dispatcher_->complete(0, 20, true));
  EXPECT_EQ(launched(20), 4U);
  ASSERT_EQ(decisions_.dropped.size(), 1U);
  EXPECT_EQ(decisions_.dropped[0].frame.deadline_ns, 69);
  EXPECT_EQ(decisions_.dropped[0].reason, DropReason::deadline);
}

TEST_F(DispatcherTest, a_batch_becomes_smaller_before_a_frame_is_dropped) {
  make({.workers = 2, .max_batch = 8});
  offer(0, 70);  // a batch of 8 takes 90, one of 6 takes 70
  for (int i = 0; i < 7; ++i) offer(0, 1000);
  EXPECT_EQ(poll(0).launches.size(), 2U);
  EXPECT_EQ(decisions_.launches[0].frames.size(), 6U);
  EXPECT_EQ(decisions_.launches[0].frames.front().deadline_ns, 70);
  EXPECT_EQ(decisions_.launches[1].frames.size(), 2U);
  EXPECT_TRUE(decisions_.dropped.empty());
}

TEST_F(DispatcherTest, a_batch_does_not_become_much_smaller_for_a_late_frame) {
  make({.max_batch = 8});
  offer(0, 49);  // even one of 4 takes 50
  for (int i = 0; i < 7; ++i) offer(0, 1000);
  EXPECT_EQ(launched(0), 7U);
  ASSERT_EQ(decisions_.dropped.size(), 1U);
  EXPECT_EQ(decisions_.dropped[0].frame.deadline_ns, 49);
}

TEST_F(DispatcherTest, frames_without_deadline_are_never_dropped_early) {
  make({.max_batch = 4});
  offer(0);
  EXPECT_EQ(launched(1'000'000), 1U);
  EXPECT_TRUE(decisions_.dropped.empty());
}

TEST_F(DispatcherTest, expired_frames_leave_while_every_worker_is_busy) {
  make({.max_batch = 4});
  offer(0, 50);
  EXPECT_EQ(launched(0), 1U);
  offer(1, 51);
  EXPECT_EQ(launched(1), 0U);
  ASSERT_TRUE(decisions_.wake_ns);
  EXPECT_EQ(launched(*decisions_.wake_ns), 0U);
  ASSERT_EQ(decisions_.dropped.size(), 1U);
  EXPECT_EQ(decisions_.dropped[0].frame.sequence, 1U);
}

TEST_F(DispatcherTest, launches_nothing_while_held_and_drops_what_expires) {
  make({.max_batch = 4});
  dispatcher_->hold(true);
  offer(0, 50);
  offer(0, 1000);
  EXPECT_EQ(launched(0), 0U);
  EXPECT_EQ(decisions_.wake_ns, 51);
  EXPECT_EQ(launched(51), 0U);
  EXPECT_EQ(decisions_.dropped.size(), 1U);
  dispatcher_->hold(false);
  EXPECT_EQ(launched(52), 1U);
}

TEST_F(DispatcherTest, gives_up_on_a_frame_whose_worker_does_not_answer) {
  make({.max_batch = 4, .give_up_after_ns = 100});
  offer(0, 60);
  offer(0);
  EXPECT_EQ(launched(0), 2U);
  EXPECT_EQ(decisions_.wake_ns, 160);
  EXPECT_TRUE(poll(159).dropped.empty());
  ASSERT_EQ(poll(160).dropped.size(), 1U);
  EXPECT_EQ(decisions_.dropped[0].reason, DropReason::timeout);
  EXPECT_TRUE(poll(161).dropped.empty());
  EXPECT_FALSE(decisions_.wake_ns);
  const auto completion = dispatcher_->complete(0, 500, true);
  ASSERT_TRUE(completion);
  EXPECT_EQ(std::vector<std::uint8_t>(completion->given_up.begin(), completion->given_up.end()),
            (std::vector<std::uint8_t>{1, 0}));
}

TEST_F(DispatcherTest, a_disturbance_does_not_stop_it_for_good) {
  make({.max_batch = 1});
  std::int64_t now = 0;
  for (int i = 0; i < 3; ++i, now += 1000) {  // ten times slower for a while
    offer(now, now + 1000);
    ASSERT_EQ(launched(now), 1U);
    ASSERT_TRUE(dispatcher_->complete(0, now + 200, true));
  }
  int served = 0;
  for (int i = 0; i < 400; ++i, now += 1000) {
    offer(now, now + 100);
    if (launched(now) == 0) continue;
    ++served;
    ASSERT_TRUE(dispatcher_->complete(0, now + 20, true));
  }
  EXPECT_EQ(served, 400);
}

TEST_F(DispatcherTest, what_a_shared_session_cannot_take_yet_gathers_in_the_queue) {
  make({.workers = 6, .max_batch = 8, .sessions = 2, .session_batches = 2});
  for (int i = 0; i < 4; ++i) {
    offer(i);
    EXPECT_EQ(launched(i), 1U);
  }
  for (int i = 0; i < 3; ++i) offer(4);
  EXPECT_EQ(launched(4), 0U) << "two of three workers of each session are busy";
  dispatcher_->leave_session(1);
  dispatcher_->leave_session(1);
  EXPECT_EQ(launched(5), 3U);
  EXPECT_EQ(decisions_.launches.front().worker, 5U) << "of the session that was left, while worker 1 still decodes";
  ASSERT_TRUE(dispatcher_->complete(1, 6, true));
  offer(6);
  EXPECT_EQ(launched(6), 0U) << "its batch had left before";
  ASSERT_TRUE(dispatcher_->complete(0, 7, true));
  EXPECT_EQ(launched(7), 1U);
  EXPECT_EQ(decisions_.launches.front().worker, 0U);
}

TEST_F(DispatcherTest, the_session_with_the_fewest_batches_takes_the_next) {
  make({.workers = 6, .max_batch = 1, .sessions = 2, .session_batches = 2});
  std::vector<std::uint32_t> workers;
  for (int i = 0; i < 4; ++i) offer(0);
  poll(0);
  for (const auto& launch : decisions_.launches) workers.push_back(launch.worker);
  EXPECT_EQ(workers, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  dispatcher_->leave_session(0);
  dispatcher_->leave_session(2);
  dispatcher_->leave_session(1);
  offer(1);
  EXPECT_EQ(launched(1), 1U);
  EXPECT_EQ(decisions_.launches.front().worker, 4U) << "session 0 is empty, session 1 still has a batch";
}

TEST_F(DispatcherTest, all_sessions_together_take_so_many_batches) {
  make({.workers = 6, .max_batch = 1, .sessions = 2, .session_batches = 2, .most_batches = 3});
  for (int i = 0; i < 4; ++i) offer(0);
  EXPECT_EQ(poll(0).launches.size(), 3U);
  dispatcher_->leave_session(2);
  EXPECT_EQ(poll(1).launches.size(), 1U);
  ASSERT_TRUE(dispatcher_->complete(0, 2, true));
  offer(3);
  EXPECT_EQ(launched(3), 1U);
  EXPECT_EQ((DispatcherOptions{.workers = 6, .sessions = 2, .session_batches = 2, .most_batches = 3}.batches_at_once()),
            3U);
  EXPECT_EQ((DispatcherOptions{.workers = 6, .sessions = 2, .session_batches = 2}.batches_at_once()), 4U);
  EXPECT_EQ((DispatcherOptions{.workers = 6}.batches_at_once()), 6U);
}

TEST_F(DispatcherTest, late_frames_make_it_cautious) {
  // Batches of one take 20 or, now and then, 29. Of two frames that come together one waits, or is dropped.
  make({.max_batch = 1});
  std::int64_t now = 0;
  const auto drops = [&](std::int64_t limit, std::int64_t takes) {
    now += 1000;
    offer(now, now + limit);
    offer(now, now + 900);
    EXPECT_EQ(launched(now), 1U);
    const auto dropped = decisions_.dropped.size();
    EXPECT_TRUE(dispatcher_->complete(0, now + takes, true));
    if (launched(now + takes) == 1) (void)dispatcher_->complete(0, now + takes + 20, true);
    return dropped;
  };
  for (int i = 0; i < 128; ++i) drops(1000, i % 8 == 0 ? 29 : 20);
  EXPECT_EQ(drops(25, 20), 0U) << "it is expected to be in time";
  for (int i = 0; i < 12; ++i) drops(25, 29);
  EXPECT_EQ(drops(25, 20), 1U) << "too many were late";
  EXPECT_EQ(drops(1000, 20), 0U);
}

TEST_F(DispatcherTest, expired_frames_leave_while_every_session_is_full) {
  make({.workers = 3, .max_batch = 1, .sessions = 1, .session_batches = 1});
  offer(0);
  EXPECT_EQ(launched(0), 1U);
  offer(1, 30);
  poll(31);
  ASSERT_EQ(decisions_.dropped.size(), 1U);
  EXPECT_EQ(decisions_.dropped.front().reason, DropReason::deadline);
}

TEST_F(DispatcherTest, pads_to_the_smallest_warmed_size) {
  make({.max_batch = 8}, BatchShape::padded);
  for (int i = 0; i < 3; ++i) offer(0);
  ASSERT_EQ(launched(0), 3U);
  EXPECT_EQ(decisions_.launches.front().executed_size, 4U);
}

TEST_F(DispatcherTest, stopping_drops_what_waits_and_lets_the_rest_complete) {
  make({.max_batch = 1});
  for (int i = 0; i < 3; ++i) offer(0);
  EXPECT_EQ(launched(0), 1U);
  std::vector<DroppedFrame> dropped;
  dispatcher_->stop(dropped);
  ASSERT_EQ(dropped.size(), 2U);
  EXPECT_EQ(dropped[0].reason, DropReason::stopped);
  EXPECT_TRUE(dispatcher_->complete(0, 20, true));
  EXPECT_EQ(launched(20), 0U);
}

TEST_F(DispatcherTest, refuses_options_out_of_range_and_completions_of_nothing) {
  const auto model = ServiceModel::make({{4, {50}}}, BatchShape::padded).value();
  EXPECT_FALSE(Dispatcher::make({.workers = 0}, model));
  EXPECT_FALSE(Dispatcher::make({.max_batch = 0}, model));
  EXPECT_FALSE(Dispatcher::make({.max_batch = 5}, model));
  EXPECT_FALSE(Dispatcher::make({.capacity = 0}, model));
  EXPECT_FALSE(Dispatcher::make({.frame_timeout_ns = -1}, model));
  EXPECT_FALSE(Dispatcher::make({.workers = 2, .sessions = 3}, model));
  EXPECT_FALSE(Dispatcher::make({.sessions = 1, .session_batches = 0}, model));
  make({});
  EXPECT_FALSE(dispatcher_->complete(0, 0, true));
  EXPECT_FALSE(dispatcher_->complete(9, 0, true));
}

}  // namespace
}  // namespace ridgeline::stream
