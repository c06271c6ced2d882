// SPDX-License-Identifier: Apache-2.0
#include "trace/record/recorded_process.hpp"

#include "trace/messages.hpp"
#include "trace/record/recording_notes.hpp"

namespace ridgeline::trace {
namespace {

TEST(RecordedProcess, reads_facts_and_leaves_out_what_it_does_not_know) {
  const auto process = read_facts(
      "pid=7\nname=python train.py --set a=b\nstate=busy\nwhy=held by nsys\ndropped=3\nzero_time=4\ncolour=red\n"
      "nonsense\nfinished=1\n");
  EXPECT_EQ(process.pid, 7);
  EXPECT_EQ(process.name, "python train.py --set a=b");
  EXPECT_EQ(process.state, RecordingState::busy);
  EXPECT_EQ(process.why, "held by nsys");
  EXPECT_EQ(process.dropped, 3);
  EXPECT_EQ(process.zero_time, 4);
  EXPECT_TRUE(process.finished);
}

TEST(RecordedProcess, of_damaged_facts_is_one_that_did_not_finish) {
  const auto process = read_facts("pid=\ndropped=-5\nstate=\nfinis");
  EXPECT_EQ(process.dropped, 0);
  EXPECT_EQ(process.state, RecordingState::recording);
  EXPECT_FALSE(process.finished);
}

TEST(RecordingNotes, say_what_is_missing) {
  std::vector<RecordedProcess> processes(2);
  processes[0].finished = true;
  processes[0].dropped = 5;
  processes[0].zero_time = 6;
  processes[1].state = RecordingState::stopped_full;
  Trace trace;
  add_recording_notes(processes, trace);
  EXPECT_TRUE(trace.lacks_work);
  const auto has = [&](const schema::Message& note) {
    return std::find(trace.notes.begin(), trace.notes.end(), note) != trace.notes.end();
  };
  EXPECT_TRUE(has(messages::recording_dropped(5)));
  EXPECT_TRUE(has(messages::recording_without_time(6)));
  EXPECT_TRUE(has(messages::recording_full(1)));
  EXPECT_TRUE(has(messages::recording_cut({.count = 1, .all = 2})));
  EXPECT_TRUE(has(messages::lacks_work()));
}

TEST(RecordingNotes, of_a_process_without_faults_are_none) {
  std::vector<RecordedProcess> processes(1);
  processes[0].finished = true;
  Trace trace;
  add_recording_notes(processes, trace);
  EXPECT_TRUE(trace.notes.empty());
  EXPECT_FALSE(trace.lacks_work);
}

}  // namespace
}  // namespace ridgeline::trace
