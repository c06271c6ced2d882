// SPDX-License-Identifier: Apache-2.0
#include "stream/frame_queue.hpp"

#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ridgeline::stream {
namespace {

/// The next frame of a source each call, entering a nanosecond after the one before.
class Numbered {
 public:
  Frame next(std::uint32_t source, std::int64_t deadline_ns = 0) {
    Frame frame;
    frame.source = source;
    frame.sequence = sequences_[source]++;
    frame.intended_ns = frame.entered_ns = ++now_;
    frame.deadline_ns = deadline_ns;
    return frame;
  }

 private:
  std::map<std::uint32_t, std::uint64_t> sequences_;
  std::int64_t now_ = 0;
};

TEST(FrameQueue, is_first_in_first_out_within_a_source_and_takes_turns_between_sources) {
  FrameQueue queue(8, DropPolicy::oldest);
  Numbered frames;
  for (const std::uint32_t source : {0U, 0U, 0U, 1U, 1U, 2U}) (void)queue.push(frames.next(source));
  std::vector<std::pair<std::uint32_t, std::uint64_t>> order;
  while (!queue.empty()) {
    const auto frame = queue.take();
    order.emplace_back(frame.source, frame.sequence);
  }
  const std::vector<std::pair<std::uint32_t, std::uint64_t>> expected{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {0, 2}};
  EXPECT_EQ(order, expected);
}

TEST(FrameQueue, a_source_that_was_silent_has_no_claim_to_what_it_did_not_use) {
  FrameQueue queue(64, DropPolicy::oldest);
  Numbered frames;
  for (int i = 0; i < 20; ++i) {
    (void)queue.push(frames.next(0));
    (void)queue.take();
  }
  for (int i = 0; i < 10; ++i) {
    (void)queue.push(frames.next(0));
    (void)queue.push(frames.next(1));
  }
  int silent = 0;
  for (int i = 0; i < 10; ++i) silent += queue.take().source == 1 ? 1 : 0;
  EXPECT_NEAR(silent, 5, 1);
}

TEST(FrameQueue, what_is_discarded_is_not_counted_as_served) {
  FrameQueue queue(8, DropPolicy::oldest);
  Numbered frames;
  for (const std::uint32_t source : {0U, 0U, 1U, 1U}) (void)queue.push(frames.next(source));
  EXPECT_EQ(queue.discard().sequence, 0U);
  EXPECT_EQ(queue.take().source, 0U);  // source 0 has the older frame of two that were served equally
  EXPECT_EQ(queue.take().source, 1U);
}

TEST(FrameQueue, drop_oldest_takes_the_oldest_of_the_source_that_holds_most) {
  FrameQueue queue(4, DropPolicy::oldest);
  Numbered frames;
  for (const std::uint32_t source : {1U, 0U, 0U, 0U}) (void)queue.push(frames.next(source));
  const auto third = queue.push(frames.next(2));
  ASSERT_EQ(third.admission, Admission::accepted);
  ASSERT_TRUE(third.dropped);
  EXPECT_EQ(third.dropped->source, 0U);
  EXPECT_EQ(third.dropped->sequence, 0U);
  const auto flood = queue.push(frames.next(0));
  ASSERT_TRUE(flood.dropped);
  EXPECT_EQ(flood.dropped->source, 0U);
  EXPECT_EQ(flood.dropped->sequence, 1U);
  EXPECT_EQ(queue.held(1), 1U);
  EXPECT_EQ(queue.size(), 4U);
}

TEST(FrameQueue, drop_newest_refuses_the_flooding_source_and_makes_room_for_the_others) {
  FrameQueue queue(3, DropPolicy::newest);
  Numbered frames;
  for (int i = 0; i < 3; ++i) (void)queue.push(frames.next(0));
  const auto refused = queue.push(frames.next(0));
  EXPECT_EQ(refused.admission, Admission::refused);
  ASSERT_TRUE(refused.dropped);
  EXPECT_EQ(refused.dropped->sequence, 3U);
  const auto other = queue.push(frames.next(1));
  EXPECT_EQ(other.admission, Admission::accepted);
  ASSERT_TRUE(other.dropped);
  EXPECT_EQ(other.dropped->source, 0U);
  EXPECT_EQ(other.dropped->sequence, 2U);
}

TEST(FrameQueue, back_pressure_drops_nothing_and_keeps_a_place_for_every_open_source) {
  FrameQueue queue(4, DropPolicy::none);
  Numbered frames;
  (void)queue.push(frames.next(1));
  (void)queue.take();  // source 1 is open and holds none
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.push(frames.next(0)).admission, Admission::accepted);
  EXPECT_FALSE(queue.has_room(0));
  EXPECT_TRUE(queue.has_room(1));
  const auto waits = queue.push(frames.next(0));
  EXPECT_EQ(waits.admission, Admission::must_wait);
  EXPECT_FALSE(waits.dropped);
  EXPECT_EQ(queue.size(), 3U);
  queue.close(1);
  EXPECT_TRUE(queue.has_room(0));
}

TEST(FrameQueue, more_sources_than_places_do_not_lock_it) {
  FrameQueue queue(1, DropPolicy::none);
  Numbered frames;
  int taken = 0;
  for (int i = 0; i < 12; ++i) {
    ASSERT_EQ(queue.push(frames.next(static_cast<std::uint32_t>(i % 3))).admission, Admission::accepted);
    (void)queue.take();
    ++taken;
  }
  EXPECT_EQ(taken, 12);
}

TEST(FrameQueue, knows_the_oldest_frame_and_the_earliest_deadline) {
  FrameQueue queue(8, DropPolicy::oldest);
  Numbered frames;
  (void)queue.push(frames.next(0));
  EXPECT_FALSE(queue.earliest_deadline());
  (void)queue.push(frames.next(1, 500));
  (void)queue.push(frames.next(2, 300));
  EXPECT_EQ(queue.earliest_deadline(), 300);
  EXPECT_EQ(queue.oldest().source, 0U);
  EXPECT_EQ(queue.discard_oldest().source, 0U);
  EXPECT_EQ(queue.oldest().source, 1U);
}

TEST(FrameQueue, never_loses_a_frame_nor_holds_more_than_its_capacity) {
  for (const auto policy : {DropPolicy::oldest, DropPolicy::newest, DropPolicy::none}) {
    base::Random random(11);
    FrameQueue queue(10, policy);
    Numbered frames;
    std::map<std::uint32_t, std::uint64_t> pushed;
    std::map<std::uint32_t, std::uint64_t> left;
    std::map<std::uint32_t, std::uint64_t> last;
    const auto leave = [&](const Frame& frame) { ++left[frame.source]; };
    for (int i = 0; i < 20000; ++i) {
      const auto source = static_cast<std::uint32_t>(random.below(5));
      if (random.uniform() < 0.6 && (policy != DropPolicy::none || queue.has_room(source))) {
        ++pushed[source];
        const auto admitted = queue.push(frames.next(source));
        ASSERT_NE(admitted.admission, Admission::must_wait);
        if (admitted.dropped) leave(*admitted.dropped);
      } else if (!queue.empty()) {
        const auto frame = random.uniform() < 0.8 ? queue.take() : queue.discard_oldest();
        if (const auto before = last.find(frame.source); before != last.end()) {
          ASSERT_LT(before->second, frame.sequence);
        }
        last[frame.source] = frame.sequence;
        leave(frame);
      }
      ASSERT_LE(queue.size(), 10U);
    }
    while (!queue.empty()) leave(queue.take());
    EXPECT_EQ(left, pushed);
  }
}

}  // namespace
}  // namespace ridgeline::stream
