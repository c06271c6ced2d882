// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/wait_notes.hpp"

#include <gtest/gtest.h>

#include "fakes/words.hpp"

namespace ridgeline::campaign {
namespace {

WorkerWaits waits_of(int workers, double rate, double share, std::vector<WaitPlace> places = {}) {
  return {workers, rate, share, std::move(places)};
}

TEST(WaitNotes, workers_that_are_no_faster_than_one_wait_at_their_lock) {
  const auto note = workers_note(
      waits_of(1, 240, 0.99, {{"train.py:8 in read", WaitKind::sleep, 1}}),
      waits_of(4, 250, 0.97,
               {{"train.py:8 in read", WaitKind::sleep, 0.6}, {"train.py:7 in read", WaitKind::lock, 0.4}}));
  EXPECT_EQ(
      fakes::text_of(note),
      "4 loader workers make samples no faster than one (250 against 240 samples/s): 97 % of a sample's time they "
      "wait for a lock at train.py:7 in read; give each worker its own of what the lock protects, or lock it for "
      "less time");
}

TEST(WaitNotes, without_a_lock_the_longest_wait_is_named) {
  const auto note =
      workers_note(waits_of(1, 240, 0.9), waits_of(4, 250, 0.9, {{"d.py:3 in get", WaitKind::read, 0.9}}));
  EXPECT_NE(fakes::text_of(note).find("they wait for reads of a file at d.py:3 in get; put the data on faster"),
            std::string::npos);
}

TEST(WaitNotes, workers_that_wait_for_themselves_do_not_delay_each_other) {
  const auto note =
      workers_note(waits_of(1, 100, 0.9), waits_of(4, 390, 0.9, {{"d.py:3 in get", WaitKind::network, 1}}));
  EXPECT_EQ(
      fakes::text_of(note),
      "loader workers wait 90 % of a sample's time, for an answer of another program at d.py:3 in get, and do not "
      "delay each other: 4 of them make 3.90× the samples/s of one");
}

TEST(WaitNotes, workers_that_compute_wait_for_nothing) {
  const auto note = workers_note(waits_of(1, 100, 0.02), waits_of(2, 120, 0.05));
  EXPECT_EQ(
      fakes::text_of(note),
      "loader workers compute 95 % of a sample's time and wait for the rest; 2 of them make 1.20× the samples/s of "
      "one");
}

TEST(WaitNotes, calls_that_read_tensors_are_named_with_their_lines) {
  schema::TrainingMeasurement measured;
  measured.phases.wall_ms = {10, 9, 11};
  EXPECT_FALSE(host_reads_note(measured, true));
  measured.resources.host_reads = {{"item()", "train.py:42 in step", 2, 1.5}, {"bool()", "train.py:50 in log", 0.1, 3}};
  EXPECT_EQ(fakes::text_of(*host_reads_note(measured, false)),
            "steps of 10 ms wait for the GPU: item() 2 per step at train.py:42 in step (1.5 ms)");
  EXPECT_EQ(fakes::text_of(*host_reads_note(measured, true)),
            "steps of 10 ms read tensors on the host, and on a GPU each call waits for it: item() 2 per step at "
            "train.py:42 in step (1.5 ms)");
  measured.resources.host_reads = {{"bool()", "train.py:50 in log", 0.1, 3}};
  EXPECT_FALSE(host_reads_note(measured, false));
}

}  // namespace
}  // namespace ridgeline::campaign
