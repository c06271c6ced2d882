// SPDX-License-Identifier: Apache-2.0
#include "trace/import/kineto_import.hpp"

#include <fmt/ranges.h>

#include "fakes/words.hpp"
#include "trace/analysis/tables.hpp"
#include "trace/messages.hpp"
#include "trace_files.hpp"

namespace ridgeline::trace {
namespace {

using KinetoImportTest = TraceFilesTest;

constexpr const char* kSmall =
    R"({"deviceProperties":[{"id":3,"name":"NVIDIA H100","computeMajor":9,"computeMinor":0,"numSms":132}],
"traceEvents":[
 {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":8,"ts":5.123,"dur":20.5,"args":{"External id":1,"Sequence number":12,"Fwd thread id":9}},
 {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":8,"ts":10,"dur":1.001,"args":{"correlation":44}},
 {"args":{"grid":[1,2,3],"block":[32,1,1],"device":3,"context":1,"stream":7,"correlation":44,"registers per thread":40,"shared memory":1024,"graph node id":5},
  "ph":"X","cat":"kernel","name":"gemm<\"x\">","pid":3,"tid":7,"ts":12,"dur":3},
 {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":3,"tid":7,"ts":20,"dur":2,"args":{"device":3,"context":1,"stream":7,"bytes":4096}},
 {"ph":"i","cat":"kernel","name":"not this","ts":1},
 {"ph":"X","cat":"kernel","name":"nor this"},
 {"ph":"X","cat":"python_function","name":"nn.Module: Linear_0","pid":7,"tid":8,"ts":1,"dur":100}
]})";

TEST_F(KinetoImportTest, reads_columns) {
  const auto trace = import_kineto(write(kSmall));
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->kernels.size(), 1U);
  const auto& kernels = trace->kernels;
  EXPECT_EQ(trace->strings.text(kernels.name[0]), "gemm<\"x\">");
  EXPECT_EQ(kernels.start_ns[0], 12000);
  EXPECT_EQ(kernels.duration_ns[0], 3000);
  EXPECT_EQ(kernels.correlation[0], 44);
  EXPECT_EQ(kernels.grid[0], (Dim3{1, 2, 3}));
  EXPECT_EQ(kernels.block[0], (Dim3{32, 1, 1}));
  EXPECT_EQ(kernels.registers[0], 40);
  EXPECT_EQ(kernels.shared_bytes[0], 1024);
  EXPECT_EQ(kernels.graph_node[0], 5U);
  EXPECT_EQ(trace->gpu_lanes[kernels.lane[0]], (GpuLane{0, 3, 1, 7}));
  ASSERT_EQ(trace->copies.size(), 1U);
  EXPECT_EQ(trace->copies.bytes[0], 4096);
  EXPECT_EQ(trace->copies.lane[0], kernels.lane[0]);
  ASSERT_EQ(trace->calls.size(), 1U);
  EXPECT_EQ(trace->calls.duration_ns[0], 1001);
  EXPECT_EQ(trace->thread_lanes[trace->calls.lane[0]], (ThreadLane{7, 8}));
  ASSERT_EQ(trace->ranges.size(), 2U);
  EXPECT_EQ(trace->ranges.start_ns[0], 5123);
  EXPECT_EQ(trace->ranges.sequence[0], 12);
  EXPECT_EQ(trace->ranges.forward_thread[0], 9);
  EXPECT_EQ(trace->ranges.kind[1], RangeKind::python);
  EXPECT_EQ(trace->ranges.sequence[1], -1);
  ASSERT_EQ(trace->devices.size(), 1U);
  EXPECT_EQ(trace->devices[0].compute_capability, "9.0");
  EXPECT_EQ(trace->devices[0].multiprocessors, 132);
  EXPECT_EQ(fakes::texts_of(trace->notes), (std::vector<std::string>{"events without a time, left out: 1"}));
}

TEST_F(KinetoImportTest, reads_what_is_allocated) {
  const auto trace = import_kineto(write(R"([
    {"ph":"X","cat":"kernel","name":"k","ts":3,"dur":1},
    {"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":7,"tid":8,"ts":1428625746340.715,"args":{
      "Total Reserved":2629828608,"Total Allocated":1003059712,"Bytes":18317312,"Addr":137877174353920,"Device Id":2,"Device Type":1,"Ev Idx":4187}},
    {"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":7,"tid":8,"ts":1428625746341,"args":{
      "Total Reserved":0,"Total Allocated":0,"Bytes":-8,"Addr":5,"Device Id":-1,"Device Type":0}},
    {"ph":"i","cat":"cpu_instant_event","name":"[OutOfMemory]","pid":7,"tid":8,"ts":9,"args":{
      "Total Reserved":20,"Total Allocated":10,"Bytes":4096,"Device Id":2,"Device Type":1}},
    {"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":7,"tid":8},
    {"ph":"i","cat":"cpu_instant_event","name":"another","pid":7,"tid":8,"ts":9}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  const auto& all = trace->allocations;
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all.time_ns[0], 1428625746340715);
  EXPECT_EQ(all.bytes, (std::vector<std::int64_t>{18317312, -8, 4096}));
  EXPECT_EQ(all.address[0], 137877174353920);
  EXPECT_EQ(all.allocated_bytes[0], 1003059712);
  EXPECT_EQ(all.reserved_bytes[0], 2629828608);
  EXPECT_EQ(all.device, (std::vector<std::int32_t>{2, -1, 2}));
  EXPECT_EQ(all.kind, (std::vector{AllocationKind::allocated, AllocationKind::freed, AllocationKind::out_of_memory}));
  EXPECT_EQ(trace->thread_lanes[all.lane[0]], (ThreadLane{7, 8}));
}

TEST_F(KinetoImportTest, memory_of_a_gpu_needs_no_kernels) {
  const auto text = [](int device_type) {
    return fmt::format(
        R"([{{"ph":"X","cat":"cpu_op","name":"aten::empty","pid":7,"tid":8,"ts":1,"dur":9}},
           {{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":7,"tid":8,"ts":2,"args":{{
             "Total Reserved":20,"Total Allocated":10,"Bytes":10,"Addr":5,"Device Id":0,"Device Type":{}}}}}])",
        device_type);
  };
  const auto host = import_kineto(write(text(0)));
  ASSERT_TRUE(host) << host.error().message;
  const auto of_host = tables_of(AnalysedTrace(*host));
  EXPECT_TRUE(of_host.memory.empty());
  ASSERT_FALSE(of_host.missing.empty());
  EXPECT_NE(fakes::text_of(of_host.missing[0]).find("only host time"), std::string::npos)
      << fakes::text_of(of_host.missing[0]);
  const auto trace = import_kineto(write(text(1)));
  ASSERT_TRUE(trace) << trace.error().message;
  const auto tables = tables_of(AnalysedTrace(*trace));
  ASSERT_EQ(tables.memory.size(), 1U);
  EXPECT_EQ(tables.memory[0].holders.at(0).place, "aten::empty");
  ASSERT_EQ(tables.missing.size(), 1U);
  EXPECT_NE(fakes::text_of(tables.missing[0]).find("no kernels"), std::string::npos);
}

TEST_F(KinetoImportTest, keeps_what_lies_before_a_cut_and_says_so) {
  const std::string text = kSmall;
  const auto trace = import_kineto(write(text.substr(0, text.find("\"ph\":\"i\"") + 3)));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->copies.size(), 1U);
  ASSERT_EQ(trace->notes.size(), 2U);
  EXPECT_EQ(fakes::text_of(trace->notes[0]), "the file is cut off: it ends after 4 events");
}

TEST_F(KinetoImportTest, what_the_host_did_behind_a_cut_is_no_idle_time) {
  std::string text = R"([{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":8,"ts":0,"dur":30},
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":7,"tid":8,"ts":900,"dur":100},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#0","pid":7,"tid":8,"ts":0,"dur":1000},
{"ph":"X","cat":"python_function","name":"train.py(1): main","pid":7,"tid":8,"ts":0,"dur":1000},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":8,"ts":10,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":80,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"kernel","na)";
  const auto trace = import_kineto(write(text));
  ASSERT_TRUE(trace) << trace.error().message;
  const auto tables = tables_of(AnalysedTrace(*trace));
  ASSERT_EQ(tables.devices.size(), 1U);
  EXPECT_EQ(tables.devices[0].busy_ns, 80'000);
  EXPECT_EQ(tables.devices[0].span_ns, 100'000) << "to the last work of the GPU";
  EXPECT_TRUE(tables.steps.empty()) << "the step has other work";
  EXPECT_EQ(trace->notes.at(1), messages::lacks_work());
  for (const auto& idle : tables.devices[0].idle) EXPECT_EQ(idle.cause, schema::IdleCause::unknown);
  EXPECT_EQ(fakes::text_of(trace->notes.back()),
            "host events after the last GPU work in the file, left out: 2 (aten::add)");
}

TEST_F(KinetoImportTest, times_may_be_texts_and_durations_must_be_lengths_behind_any_byte_order_mark) {
  const auto trace =
      import_kineto(write("\xEF\xBB\xBF"
                          R"([
    {"ph":"X","cat":"kernel","name":"a","ts":"20","dur":"80.5"},
    {"ph":"X","cat":"kernel","name":"b","ts":200,"dur":-3},
    {"ph":"X","cat":"kernel","name":"c","ts":300,"dur":"NaN"}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->kernels.size(), 1U);
  EXPECT_EQ(trace->kernels.duration_ns[0], 80'500);
  EXPECT_EQ(fakes::texts_of(trace->notes),
            (std::vector<std::string>{"events whose duration is not a length of time, left out: 2"}));
}

TEST_F(KinetoImportTest, shapes_of_products_that_tell_more_than_their_names) {
  const auto trace = import_kineto(write(R"([
{"ph":"X","cat":"cpu_op","name":"aten::bmm","pid":7,"tid":8,"ts":1,"dur":3,"args":{"Input Dims":[[16,128,64],[16,64,256]]}},
{"ph":"X","cat":"cpu_op","name":"aten::matmul","pid":7,"tid":8,"ts":5,"dur":3,"args":{"Input Dims":[[2,8,1,64],[2,8,64,9]]}},
{"ph":"X","cat":"cpu_op","name":"aten::matmul","pid":7,"tid":8,"ts":9,"dur":3,"args":{"Input Dims":[[2,8,64],[64,9]]}},
{"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":7,"tid":8,"ts":13,"dur":3,"args":{"Input Dims":[[9],[1,64],[64,9],[],[]]}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":8,"ts":17,"dur":3,"args":{"Input Dims":[[5,64],[64,9]]}},
{"ph":"X","cat":"cpu_op","name":"aten::bmm","pid":7,"tid":8,"ts":21,"dur":3,"args":{"Input Dims":[[16,128,64],"no"]}},
{"ph":"X","cat":"cpu_op","name":"aten::bmm","pid":7,"tid":8,"ts":25,"dur":3,"args":{"Input Dims":[[99999999999999999999,1,1],[1,1,1]]}},
{"ph":"X","cat":"kernel","name":"","pid":0,"tid":7,"ts":20,"dur":80,"args":{"device":0,"stream":7,"correlation":1}}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  std::vector<std::vector<std::int64_t>> shapes;
  for (const auto& [operation, shape] : trace->product_shapes)
    shapes.push_back({operation.second / 1000, shape.pairs, shape.rows, shape.inner, shape.columns});
  EXPECT_EQ(shapes, (std::vector<std::vector<std::int64_t>>{
                        {1, 16, 128, 64, 256}, {5, 16, 1, 64, 9}, {9, 0, 8, 64, 9}, {13, 0, 1, 64, 9}}));
  EXPECT_EQ(trace->strings.text(trace->kernels.name[0]), "(unnamed)");
}

TEST_F(KinetoImportTest, bears_values_of_other_types) {
  const auto trace = import_kineto(write(R"([
    {"ph":"X","cat":"kernel","name":7,"pid":"x","tid":null,"ts":"1","dur":2},
    {"ph":"X","cat":"kernel","name":null,"pid":1.5,"tid":[1],"ts":3,"dur":"x","args":[1,2]},
    {"ph":"X","cat":["kernel"],"ts":3}, 12, "text", null, [],
    {"ph":"X","cat":"kernel","name":"k","ts":-5.5,"dur":2,"args":{"grid":"no","block":[1,"x"],"device":null,"bytes":{}}}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->kernels.size(), 2U);
  EXPECT_EQ(trace->strings.text(trace->kernels.name[1]), "k");
  EXPECT_EQ(trace->kernels.start_ns[1], -5500);
  EXPECT_EQ(trace->kernels.duration_ns[1], 2000);
}

TEST_F(KinetoImportTest, an_event_that_is_no_json_takes_no_other_away) {
  const auto trace = import_kineto(write(
      R"([{"ph":"X","cat":"kernel","name":"a","ts":1,"dur":2},{"ph" "X","cat":"kernel","name":"x","ts":1},)"
      R"({"ph":"X","cat":"kernel","name":"b","ts":1,"dur":2},{"ts":1,,"dur":2},{"ph":"X","cat":"kernel","name":"c","ts":1,"dur":2}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  std::string names;
  for (const auto name : trace->kernels.name) names += trace->strings.text(name);
  EXPECT_EQ(names, "abc");
  EXPECT_EQ(fakes::texts_of(trace->notes),
            (std::vector<std::string>{"events that are not JSON, left out: 1", "events with damaged JSON, repaired: 1",
                                      fakes::text_of(messages::lacks_work()),
                                      "events of kinds that are not read: 1 without one"}));
}

TEST_F(KinetoImportTest, commas_are_counted_wherever_a_batch_ends) {
  std::string list;
  constexpr int kEvents = 90'000;
  for (int i = 0; i < kEvents; ++i)
    list += fmt::format(R"({}{{"ph":"X","cat":"kernel","name":"k","ts":{},"dur":2,"args":{{"stream":7}}}})",
                        i == 0       ? ""
                        : i % 2 == 0 ? ",,"
                                     : ",",
                        10 * i);
  const auto trace = import_kineto(write("[" + list + "]"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->kernels.size(), static_cast<std::size_t>(kEvents));
  EXPECT_EQ(fakes::texts_of(trace->notes),
            (std::vector<std::string>{
                fmt::format("commas between events, missing or too many, repaired: {}", kEvents / 2 - 1)}));
}

TEST_F(KinetoImportTest, events_of_phases_that_are_not_read_are_named) {
  const std::string kernel = R"({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2})";
  const auto trace = import_kineto(write("[" + kernel + R"(,{"ph":"b","cat":"gpu_async","name":"a","ts":2,"id":1})" +
                                         R"(,{"cat":"kernel","name":"n","ts":3,"dur":1},{"ph":"C","name":"c","ts":4})" +
                                         R"(,{"ph":"s","cat":"ac2g","name":"ac2g","ts":1,"id":1}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(fakes::texts_of(trace->notes),
            (std::vector<std::string>{
                "events of kinds that are not read: 1 of gpu_async with ph b, 1 of kernel without ph"}));
}

TEST_F(KinetoImportTest, damage_beside_the_events_is_named) {
  const auto read = [&](const std::string& text) {
    auto trace = import_kineto(write(text));
    EXPECT_TRUE(trace) << text << trace.error().message;
    EXPECT_EQ(trace ? trace->kernels.size() : 0, 1U) << text;
    return trace ? std::move(*trace) : Trace();
  };
  const std::string events = R"("traceEvents": [{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2}])";
  const auto commas = read(R"({"deviceProperties": [{"id": 0,, "name": "H100"}], )" + events + "}");
  ASSERT_EQ(commas.devices.size(), 1U);
  EXPECT_EQ(commas.devices[0].name, "H100");
  EXPECT_EQ(fakes::texts_of(commas.notes), (std::vector<std::string>{"deviceProperties with damaged JSON, repaired"}));
  const auto colon = read(R"({"deviceProperties": [{"id" 0}], )" + events + "}");
  EXPECT_EQ(
      fakes::texts_of(colon.notes),
      (std::vector<std::string>{"deviceProperties that are not JSON, left out: the names of GPUs are not known"}));
  const std::vector<std::string> note{"damaged JSON before or after the events: its data about the GPU may be missing"};
  EXPECT_EQ(fakes::texts_of(read(R"({"deviceProperties": [{"id": 0, "name": H100"}], )" + events + "}").notes), note);
  EXPECT_EQ(fakes::texts_of(read(R"({"deviceProperties": [{"id": 0, "name": "H100"}, )" + events + "}").notes), note);
  EXPECT_EQ(fakes::texts_of(read(R"({"deviceProperties": [{"id": 0}]], )" + events + "}").notes), note);
  EXPECT_EQ(fakes::texts_of(read("{" + events + R"(, "deviceProperties": [{"id": 0, "name": "H100)").notes), note);
}

TEST_F(KinetoImportTest, a_last_event_that_lacks_a_bracket_takes_nothing_behind_it_along) {
  const auto trace = import_kineto(write(R"({"traceEvents": [{"ph":"X","cat":"kernel","name":"a","ts":1,"dur":2},
      {"ph":"X","cat":"kernel","name":"b","ts":9,"dur":2,"args":{"stream":7}], "deviceProperties": [{"id": 0, "name": "H100"}, {"id": 1}]})"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->kernels.size(), 1U);
  EXPECT_EQ(trace->devices.size(), 2U);
  EXPECT_EQ(fakes::texts_of(trace->notes), (std::vector<std::string>{"events that are not JSON, left out: 1",
                                                                     fakes::text_of(messages::lacks_work())}));
}

TEST_F(KinetoImportTest, what_follows_the_first_document_is_named) {
  const auto notes = [&](const std::string& text) {
    const auto trace = import_kineto(write(text));
    EXPECT_TRUE(trace) << text;
    return trace ? fmt::format("{} kernels; {}", trace->kernels.size(), fmt::join(fakes::texts_of(trace->notes), "; "))
                 : "";
  };
  const std::string events = R"([{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2}])";
  const auto document = R"({"traceEvents": )" + events + R"(, "traceName": "a"})";
  const std::string note = " bytes after the end of the trace are not read";
  const std::string more = ": more JSON, such as a second trace; import it as a file of its own";
  EXPECT_EQ(notes(document + "\n"), "1 kernels; ");
  EXPECT_EQ(notes(document + "\n" + document), fmt::format("1 kernels; {}{}{}", document.size(), note, more));
  EXPECT_EQ(notes(events + events), fmt::format("1 kernels; {}{}{}", events.size(), note, more));
  EXPECT_EQ(notes(document + "garbage"), "1 kernels; 7" + note);
  EXPECT_EQ(
      notes(R"({"traceEvents": )" + events + R"(, "traceEvents": )" + events.substr(0, events.size() - 3) + "3}]}"),
      "2 kernels; lists of events (traceEvents): 2 in one file, all read as one trace");
}

TEST_F(KinetoImportTest, says_what_a_file_without_kernels_lacks) {
  const auto none = import_kineto(
      write(R"({"traceEvents":[{"ph":"X","cat":"disk","name":"read","ts":1,"dur":2},{"ph":"X","name":"x","ts":1}]})"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, base::ErrorCode::unsupported);
  EXPECT_NE(none.error().message.find(
                "no kernels and no operations among 2 events; their categories: 1 without one, 1 of disk"),
            std::string::npos)
      << none.error().message;
  EXPECT_NE(none.error().hint.find("ProfilerActivity.CUDA"), std::string::npos);
}

TEST_F(KinetoImportTest, a_trace_of_the_autograd_profiler_tells_time_on_the_host) {
  const auto trace = import_kineto(write(
      R"([{"name": "step", "ph": "X", "ts": 100, "dur": 453, "tid": 1, "pid": "CPU functions", "args": {}},
          {"name": "aten::linear", "ph": "X", "ts": 126, "dur": 95, "tid": 1, "pid": "CPU functions", "args": {}},
          {"name": "aten::linear", "ph": "s", "ts": 126, "tid": 1, "pid": "CPU functions", "id": 0, "cat": "cpu_to_cuda", "args": {}},
          {"name": "aten::addmm", "ph": "X", "ts": 145, "dur": 75, "tid": 1, "pid": "CPU functions", "args": {}},
          {"name": "AddmmBackward0", "ph": "X", "ts": 300, "dur": 30, "tid": 2, "pid": "CPU functions", "args": {}}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_TRUE(trace->is_of_host());
  EXPECT_TRUE(trace->notes.empty()) << fakes::text_of(trace->notes.front());
  EXPECT_EQ(trace->ranges.kind, (std::vector<RangeKind>{RangeKind::annotation, RangeKind::operation,
                                                        RangeKind::operation, RangeKind::operation}));
  EXPECT_EQ(trace->ranges.duration_ns, (std::vector<std::int64_t>{453'000, 95'000, 75'000, 30'000}));
  EXPECT_EQ(trace->thread_lanes.size(), 2U);
}

TEST_F(KinetoImportTest, an_old_trace_of_the_autograd_profiler_names_what_is_not_read) {
  constexpr const char* kGpu =
      R"({"name": "add", "ph": "X", "ts": 110.0, "dur": 30.0, "tid": 0, "pid": "CUDA functions", "args": {}})";
  const auto trace = import_kineto(write(fmt::format(
      R"([{{"name": "add", "ph": "X", "ts": 100.0, "dur": 30.0, "tid": 1, "pid": "CPU functions", "args": {{}}}},
                      {}])",
      kGpu)));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->ranges.kind, (std::vector<RangeKind>{RangeKind::operation}));
  EXPECT_EQ(
      fakes::texts_of(trace->notes),
      (std::vector<std::string>{"times of GPU work by operation (torch.autograd.profiler) that are not read: 1"}));
  const auto alone = import_kineto(write(fmt::format("[{}]", kGpu)));
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message.find("torch.autograd.profiler"), std::string::npos) << alone.error().message;
}

TEST_F(KinetoImportTest, kinds_of_events_that_are_not_read_are_counted) {
  const auto trace = import_kineto(write(R"([
    {"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2},
    {"ph":"X","cat":"xpu_runtime","name":"a","ts":1,"dur":2}, {"ph":"X","cat":"xpu_runtime","name":"a","ts":2,"dur":2},
    {"ph":"X","cat":"gpu_user_annotation","name":"a","ts":1,"dur":2}, {"ph":"X","cat":"Trace","name":"a","ts":1,"dur":2},
    {"ph":"s","cat":"another","name":"a","ts":1}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(fakes::texts_of(trace->notes),
            (std::vector<std::string>{"events of kinds that are not read: 2 of xpu_runtime"}));
}

TEST_F(KinetoImportTest, events_that_begin_and_end_apart_are_one) {
  const std::vector<std::string> events{
      R"({"ph":"B","cat":"cpu_op","name":"aten::mm","pid":7,"tid":8,"ts":1})",
      R"({"ph":"B","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":8,"ts":2,"args":{"correlation":44}})",
      R"({"ph":"E","pid":7,"tid":8,"ts":3})",
      R"({"ph":"B","cat":"kernel","name":"gemm","pid":3,"tid":7,"ts":3,"args":{"device":3,"stream":7,"correlation":44}})",
      R"({"ph":"E","pid":7,"tid":8,"ts":6})",
      R"({"ph":"E","name":"gemm","pid":3,"tid":7,"ts":9})"};
  // In the order of time; each with its end, which is not; the ends behind all others.
  for (const auto& order : {std::vector<int>{0, 1, 2, 3, 4, 5}, {0, 4, 1, 2, 3, 5}, {3, 1, 0, 5, 2, 4}}) {
    std::vector<std::string> text;
    for (const auto i : order) text.push_back(events[static_cast<std::size_t>(i)]);
    const auto trace = import_kineto(write(fmt::format("[{}]", fmt::join(text, ","))));
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_TRUE(trace->notes.empty());
    ASSERT_EQ(trace->kernels.size(), 1U);
    EXPECT_EQ(trace->kernels.duration_ns[0], 6000);
    EXPECT_EQ(trace->kernels.correlation[0], 44);
    EXPECT_EQ(trace->strings.text(trace->kernels.name[0]), "gemm");
    ASSERT_EQ(trace->calls.size(), 1U);
    EXPECT_EQ(trace->calls.duration_ns[0], 1000);
    ASSERT_EQ(trace->ranges.size(), 1U);
    EXPECT_EQ(trace->ranges.duration_ns[0], 5000);
  }
  const auto open = import_kineto(write("[" + events[0] + "," + events[3] + "," + events[5] + "]"));
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_EQ(open->kernels.size(), 1U);
  EXPECT_EQ(fakes::texts_of(open->notes),
            (std::vector<std::string>{"events without an end or a beginning (ph B and E), left out: 1"}));
}

/// A lost end is not made up for by a later one, nor a lost beginning by an earlier.
TEST_F(KinetoImportTest, an_end_closes_no_event_whose_own_end_is_lost) {
  const auto begin = [](std::string_view category, std::string_view name, int thread, int time) {
    return fmt::format(R"({{"ph":"B","cat":"{}","name":"{}","pid":1,"tid":{},"ts":{},"args":{{"correlation":{}}}}})",
                       category, name, thread, time, time);
  };
  const auto end = [](std::string_view name, int thread, int time) {
    return fmt::format(R"({{"ph":"E","name":"{}","pid":1,"tid":{},"ts":{}}})", name, thread, time);
  };
  std::vector<std::string> events;
  for (int i = 0; i < 6; ++i) {
    const int at = 100 * i;
    const bool lacks_end = i == 1;
    const bool lacks_begin = i == 4;
    events.push_back(begin("user_annotation", "block", 8, at));
    if (!lacks_begin) events.push_back(begin("cpu_op", "aten::mm", 8, at + 10));
    if (!lacks_begin) events.push_back(begin("cuda_runtime", "cudaLaunchKernel", 8, at + 11));
    if (!lacks_end) events.push_back(end("cudaLaunchKernel", 8, at + 12));
    if (!lacks_end) events.push_back(end("aten::mm", 8, at + 20));
    events.push_back(end("block", 8, at + 30));
    if (!lacks_begin) events.push_back(begin("kernel", "gemm", 7, at + 20));
    if (!lacks_end) events.push_back(end("gemm", 7, at + 90));
    if (!lacks_begin) events.push_back(begin("cpu_op", "aten::add", 9, at + 20));
    if (!lacks_end) events.push_back(end("aten::add", 9, at + 25));
  }
  const auto trace = import_kineto(write(fmt::format("[{}]", fmt::join(events, ","))));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(fakes::texts_of(trace->notes),
            (std::vector<std::string>{"events without an end or a beginning (ph B and E), left out: 8"}));
  EXPECT_EQ(trace->kernels.duration_ns, std::vector<std::int64_t>(4, 70'000));
  EXPECT_EQ(trace->calls.duration_ns, std::vector<std::int64_t>(4, 1000));
  std::map<std::string, std::vector<std::int64_t>> ranges;
  for (std::size_t i = 0; i < trace->ranges.size(); ++i)
    ranges[std::string(trace->strings.text(trace->ranges.name[i]))].push_back(trace->ranges.duration_ns[i]);
  EXPECT_EQ(ranges["block"], std::vector<std::int64_t>(6, 30'000));
  EXPECT_EQ(ranges["aten::mm"], std::vector<std::int64_t>(4, 10'000));
  EXPECT_EQ(ranges["aten::add"], std::vector<std::int64_t>(4, 5'000));
}

TEST_F(KinetoImportTest, a_parent_may_end_in_the_same_moment_before_its_part) {
  const auto trace = import_kineto(write(R"([
    {"ph":"B","cat":"cpu_op","name":"aten::sum","pid":7,"tid":8,"ts":1},
    {"ph":"B","cat":"cpu_op","name":"aten::sum","pid":7,"tid":8,"ts":2},
    {"ph":"B","cat":"cpu_op","name":"aten::fill_","pid":7,"tid":8,"ts":3},
    {"ph":"E","name":"aten::sum","pid":7,"tid":8,"ts":9},
    {"ph":"E","name":"aten::fill_","pid":7,"tid":8,"ts":9},
    {"ph":"E","name":"aten::sum","pid":7,"tid":8,"ts":10}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_TRUE(trace->notes.empty());
  EXPECT_EQ(trace->ranges.duration_ns, (std::vector<std::int64_t>{9000, 7000, 6000}));
}

TEST_F(KinetoImportTest, a_trace_without_a_gpu_tells_time_on_the_host_by_module) {
  const auto trace = import_kineto(write(R"([
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#0","pid":7,"tid":8,"ts":0,"dur":100},
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":7,"tid":8,"ts":100,"dur":100},
    {"ph":"X","cat":"python_function","name":"nn.Module: Net_0","pid":7,"tid":8,"ts":10,"dur":80},
    {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":8,"ts":20,"dur":50},
    {"ph":"X","cat":"python_function","name":"nn.Module: Net_0","pid":7,"tid":8,"ts":110,"dur":60}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  const auto tables = tables_of(AnalysedTrace(*trace));
  EXPECT_TRUE(tables.devices.empty());
  EXPECT_EQ(tables.span_ns, 200'000);
  ASSERT_EQ(tables.modules.size(), 3U);
  EXPECT_EQ(tables.modules[1].path, "Net_0");
  EXPECT_EQ(tables.modules[1].host_total_ns, 140'000);
  EXPECT_EQ(tables.modules[1].host_self_ns, 90'000);
  EXPECT_EQ(tables.modules[1].step_ns, (std::vector<std::int64_t>{80'000, 60'000}));
  EXPECT_EQ(tables.modules[2].step_ns, (std::vector<std::int64_t>{50'000, 0}));
  ASSERT_FALSE(tables.missing.empty());
  EXPECT_NE(fakes::text_of(tables.missing[0]).find("no GPU work"), std::string::npos)
      << fakes::text_of(tables.missing[0]);
}

TEST_F(KinetoImportTest, processes_beside_each_other_on_the_host_are_not_one) {
  const auto event = [](int process, int start, int duration) {
    return fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":{},"tid":8,"ts":{},"dur":{}}})", process,
                       start, duration);
  };
  const auto trace = import_kineto(
      write(fmt::format("[{},{},{},{}]", event(7, 0, 50), event(9, 0, 40), event(7, 60, 50), event(9, 60, 45))));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->ranges.duration_ns, (std::vector<std::int64_t>{50'000, 50'000}));
  EXPECT_EQ(
      fakes::texts_of(trace->notes),
      (std::vector<std::string>{"the file has 2 processes on the host: times are for process 7, whose events take the "
                                "longest; left out: 2 events of the others, so import the trace of each process "
                                "alone"}));
}

TEST_F(KinetoImportTest, of_time_on_the_host_the_backward_pass_is_told_apart) {
  const auto trace = import_kineto(write(R"([
    {"ph":"X","cat":"python_function","name":"nn.Module: Net_0","pid":7,"tid":8,"ts":0,"dur":100},
    {"ph":"X","cat":"cpu_op","name":"aten::linear","pid":7,"tid":8,"ts":10,"dur":60,"args":{"Sequence number":5}},
    {"ph":"X","cat":"cpu_op","name":"autograd::engine::evaluate_function: AddmmBackward0","pid":7,"tid":9,"ts":200,
     "dur":150,"args":{"Sequence number":5,"Fwd thread id":1}},
    {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":9,"ts":210,"dur":120}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  const auto tables = tables_of(AnalysedTrace(*trace));
  EXPECT_EQ(tables.modules.front().host_total_ns, 250'000);
  EXPECT_EQ(tables.modules.front().backward_ns, 150'000);
}

TEST_F(KinetoImportTest, gpu_work_by_operation_is_not_said_to_be_missing) {
  const auto trace = import_kineto(write(R"([
    {"name":"aten::mm","ph":"X","ts":100,"dur":50,"tid":1,"pid":"CPU functions","args":{}},
    {"name":"aten::mm","ph":"X","ts":150,"dur":600,"tid":0,"pid":"CUDA functions","args":{}}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  const auto tables = tables_of(AnalysedTrace(*trace));
  EXPECT_NE(fakes::text_of(tables.missing.at(0)).find("although a GPU worked"), std::string::npos)
      << fakes::text_of(tables.missing.at(0));
}

TEST_F(KinetoImportTest, a_trace_of_an_amd_gpu_is_read) {
  const auto trace = import_kineto(write(R"({"deviceProperties":[{"id":2,"name":""},{"id":3,"name":"AMD MI300"}],
    "traceEvents":[
    {"ph":"X","cat":"cuda_runtime","name":"hipExtModuleLaunchKernel","pid":7,"tid":8,"ts":1,"dur":1,
     "args":{"cid":48,"correlation":117,"stream":"0x0"}},
    {"ph":"X","cat":"kernel","name":"Cijk","pid":2,"tid":0,"ts":3,"dur":4,
     "args":{"device":2,"stream":0,"correlation":117,"grid":[64,1,1]}}]})"));
  ASSERT_TRUE(trace) << trace.error().message;
  const auto tables = tables_of(AnalysedTrace(*trace));
  ASSERT_EQ(tables.devices.size(), 1U);
  EXPECT_EQ(tables.devices[0].device, 2);
  EXPECT_EQ(tables.devices[0].busy_ns, 4'000);
}

TEST_F(KinetoImportTest, names_of_a_file_stay_in_one_line) {
  const auto trace = import_kineto(write("{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"a\\nb\\u001b[2J\",\"ts\":1}]}"));
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message.find('\n'), std::string::npos) << trace.error().message;
  EXPECT_EQ(trace.error().message.find('\x1B'), std::string::npos);
  EXPECT_NE(trace.error().message.find("\\x0a"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::trace
