// SPDX-License-Identifier: Apache-2.0
#include "trace/record/recorded_process.hpp"

#include "trace/messages.hpp"
#include "trace/record/device_numbers.hpp"
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

TEST(RecordedProcess, reads_how_far_it_is) {
  const auto process = read_facts(
      "bytes=1000\nbegun_ns=5\nended_ns=9\nrecorded_steps=3\nprofiler_api=1\ndevice=0 GPU-a\ndevice=1 GPU-b\n"
      "device=-1 GPU-c\ndevice=GPU-d\n");
  EXPECT_EQ(process.bytes, 1000);
  EXPECT_EQ(process.begun_ns, 5);
  EXPECT_EQ(process.seen_ns, 9);
  EXPECT_EQ(process.recorded_steps, 3);
  EXPECT_TRUE(process.calls_profiler_api);
  EXPECT_EQ(process.devices, (std::map<std::int32_t, std::string>{{0, "GPU-a"}, {1, "GPU-b"}}));
}

TEST(DeviceNumbers, gpus_that_processes_number_alike_are_apart_and_those_that_they_share_are_one) {
  const auto of_process = [](std::int64_t process, std::int32_t device) {
    Trace trace;
    trace.devices.push_back({device, "H200", 132, "9.0", 0});
    trace.kernels.add(0, 10, trace.strings.id("gemm"), trace.gpu_lane({process, device, 1, 7}), 1);
    return trace;
  };
  auto first = of_process(1, 0);
  auto other = of_process(2, 0);
  auto both = of_process(3, 1);
  auto unknown = of_process(4, 0);
  DeviceNumbers numbers;
  numbers.apply({{0, "GPU-a"}}, first);
  numbers.apply({{0, "GPU-b"}}, other);
  numbers.apply({{0, "GPU-a"}, {1, "GPU-b"}}, both);
  numbers.apply({}, unknown);
  EXPECT_EQ(first.gpu_lanes[0].device, 0);
  EXPECT_EQ(other.gpu_lanes[0].device, 1);
  EXPECT_EQ(other.devices[0].id, 1);
  EXPECT_EQ(both.gpu_lanes[0].device, 1);
  EXPECT_EQ(unknown.gpu_lanes[0].device, 0);
  EXPECT_EQ(other.kernels.lane[0], 0U);
}

TEST(RecordingNotes, a_recording_that_could_not_be_written_is_not_one_that_is_large_enough) {
  std::vector<RecordedProcess> processes(2);
  for (auto& one : processes) {
    one.finished = true;
    one.state = RecordingState::stopped_full;
  }
  processes[1].pid = 2;
  processes[0].why = "/tmp/x: No space left on device";
  Trace trace;
  add_recording_notes(processes, trace);
  const auto has = [&](const schema::Message& note) {
    return std::find(trace.notes.begin(), trace.notes.end(), note) != trace.notes.end();
  };
  EXPECT_TRUE(has(messages::recording_unwritten({.count = 1, .why = "/tmp/x: No space left on device"})));
  EXPECT_TRUE(has(messages::recording_full(1)));
  EXPECT_FALSE(has(messages::recording_full_of_events(1)));
}

TEST(RecordingNotes, a_recording_with_as_many_events_as_can_be_read_did_not_reach_its_size) {
  std::vector<RecordedProcess> processes(1);
  processes[0] = read_facts("state=stopped_full\nfull_of_events=1\nfinished=1");
  Trace trace;
  add_recording_notes(processes, trace);
  EXPECT_EQ(trace.notes, std::vector{messages::recording_full_of_events(1)});
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
  processes[1].pid = 2;
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

TEST(RecordingNotes, lines_that_were_asked_for_and_are_not_there) {
  const auto notes_of = [](const char* facts) {
    Trace trace;
    add_recording_notes({read_facts(facts)}, trace);
    return trace.notes;
  };
  EXPECT_EQ(notes_of("finished=1\nuses_cuda=1\nlines=0\n"), std::vector{messages::recording_without_lines()});
  EXPECT_TRUE(notes_of("finished=1\nuses_cuda=1\nlines=7\n").empty());
  EXPECT_TRUE(notes_of("finished=1\nuses_cuda=0\nlines=0\n").empty());
  EXPECT_TRUE(notes_of("finished=1\nuses_cuda=1\n").empty());
}

TEST(RecordingNotes, helpers_that_recorded_nothing_are_not_named) {
  const auto notes_of = [](std::vector<RecordedProcess> processes) {
    Trace trace;
    add_recording_notes(processes, trace);
    return trace.notes;
  };
  const auto process = [](std::int64_t pid, const std::string& facts) {
    auto out = read_facts("finished=1\nuses_cuda=1\n" + facts);
    out.pid = pid;
    return out;
  };
  EXPECT_TRUE(notes_of({process(7, "events=9\n"), process(8, "events=0\n")}).empty());
  const std::string name(100, 'x');
  EXPECT_EQ(notes_of({process(7, "events=9\nname=" + name + "\n"), process(8, "events=1\n"), process(9, "events=0\n")}),
            std::vector{messages::recorded_processes(
                {.count = 2, .names = {std::string(59, 'x') + "… (7)", "8"}, .more = std::nullopt})});
}

TEST(RecordingNotes, a_process_that_ran_another_program_is_one) {
  std::vector<RecordedProcess> processes(3);
  for (auto& one : processes) one.finished = true;
  processes[0].name = "sh run.sh";
  processes[1].name = "python train.py";
  for (auto* one : {&processes[0], &processes[1]}) one->pid = 7;
  processes[2].pid = 8;
  const auto has_note = [&](const schema::Message& note) {
    Trace trace;
    add_recording_notes(processes, trace);
    return std::find(trace.notes.begin(), trace.notes.end(), note) != trace.notes.end();
  };
  EXPECT_TRUE(has_note(
      messages::recorded_processes({.count = 2, .names = {"python train.py (7)", "8"}, .more = std::nullopt})));
  processes.pop_back();
  Trace trace;
  add_recording_notes(processes, trace);
  EXPECT_TRUE(trace.notes.empty());
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
