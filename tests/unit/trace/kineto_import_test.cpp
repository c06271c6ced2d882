// SPDX-License-Identifier: Apache-2.0
#include "trace/import/kineto_import.hpp"

#include "trace/analysis/tables.hpp"
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
  EXPECT_TRUE(trace->notes.empty());
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
  EXPECT_FALSE(import_kineto(write(text(0))));
  const auto trace = import_kineto(write(text(1)));
  ASSERT_TRUE(trace) << trace.error().message;
  const auto tables = tables_of(AnalysedTrace(*trace));
  ASSERT_EQ(tables.memory.size(), 1U);
  EXPECT_EQ(tables.memory[0].holders.at(0).place, "aten::empty");
  ASSERT_EQ(tables.missing.size(), 1U);
  EXPECT_NE(tables.missing[0].find("no kernels"), std::string::npos);
}

TEST_F(KinetoImportTest, keeps_what_lies_before_a_cut_and_says_so) {
  const std::string text = kSmall;
  const auto trace = import_kineto(write(text.substr(0, text.find("\"ph\":\"i\"") + 3)));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->copies.size(), 1U);
  ASSERT_EQ(trace->notes.size(), 1U);
  EXPECT_EQ(trace->notes[0], "the file is cut off: it ends after 4 events");
}

TEST_F(KinetoImportTest, bears_values_of_other_types) {
  const auto trace = import_kineto(write(R"([
    {"ph":"X","cat":"kernel","name":7,"pid":"x","tid":null,"ts":"1","dur":2},
    {"ph":"X","cat":"kernel","name":null,"pid":1.5,"tid":[1],"ts":3,"dur":"x","args":[1,2]},
    {"ph":"X","cat":["kernel"],"ts":3}, 12, "text", null, [],
    {"ph":"X","cat":"kernel","name":"k","ts":-5.5,"dur":-2,"args":{"grid":"no","block":[1,"x"],"device":null,"bytes":{}}}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->kernels.size(), 2U);
  EXPECT_EQ(trace->strings.text(trace->kernels.name[1]), "k");
  EXPECT_EQ(trace->kernels.start_ns[1], -5500);
  EXPECT_EQ(trace->kernels.duration_ns[1], 0);
}

TEST_F(KinetoImportTest, an_event_that_is_no_json_takes_no_other_away) {
  const auto trace = import_kineto(write(
      R"([{"ph":"X","cat":"kernel","name":"a","ts":1,"dur":2},{"ph" "X","cat":"kernel","name":"x","ts":1},)"
      R"({"ph":"X","cat":"kernel","name":"b","ts":1,"dur":2},{"ts":1,,"dur":2},{"ph":"X","cat":"kernel","name":"c","ts":1,"dur":2}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  std::string names;
  for (const auto name : trace->kernels.name) names += trace->strings.text(name);
  EXPECT_EQ(names, "abc");
  ASSERT_EQ(trace->notes.size(), 1U);
  EXPECT_EQ(trace->notes[0], "events that are no JSON, left out: 2");
}

TEST_F(KinetoImportTest, says_what_a_file_without_kernels_lacks) {
  const auto none =
      import_kineto(write(R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","ts":1,"dur":2}]})"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, base::ErrorCode::unsupported);
  EXPECT_NE(none.error().message.find("no kernels among 1 events"), std::string::npos);
  EXPECT_NE(none.error().hint.find("ProfilerActivity.CUDA"), std::string::npos);
}

TEST_F(KinetoImportTest, names_of_a_file_stay_in_one_line) {
  const auto trace = import_kineto(
      write("{\"deviceProperties\":[{\"name\":\"AMD\\nMI300\\u001b[2J\"}],\"traceEvents\":[{\"ph\":\"X\"}]}"));
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("AMD"), std::string::npos);
  EXPECT_EQ(trace.error().message.find('\n'), std::string::npos) << trace.error().message;
  EXPECT_EQ(trace.error().message.find('\x1B'), std::string::npos);
  EXPECT_NE(trace.error().message.find("\\x0a"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::trace
