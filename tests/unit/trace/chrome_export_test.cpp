// SPDX-License-Identifier: Apache-2.0
#include "trace/export/chrome_export.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "trace/export/json_text.hpp"
#include "trace/import/kineto_import.hpp"
#include "trace/import/nsys_import.hpp"
#include "trace/import/onnxruntime_import.hpp"
#include "trace_files.hpp"

namespace ridgeline::trace {
namespace {

std::vector<std::string_view> names_of(const Trace& trace, const std::vector<NameId>& ids) {
  std::vector<std::string_view> out;
  for (const auto id : ids) out.push_back(trace.strings.text(id));
  return out;
}

template <typename Lane>
std::vector<Lane> lanes_of(const Spans& spans, const std::vector<Lane>& lanes) {
  std::vector<Lane> out;
  for (const auto id : spans.lane) out.push_back(lanes[id]);
  return out;
}

/// The columns that all tables have; numbers of lanes and names may differ.
template <typename Lane>
void expect_equal_spans(const Trace& a, const Spans& of_a, const std::vector<Lane>& lanes_a, const Trace& b,
                        const Spans& of_b, const std::vector<Lane>& lanes_b) {
  EXPECT_TRUE(of_a.start_ns == of_b.start_ns);
  EXPECT_TRUE(of_a.duration_ns == of_b.duration_ns);
  EXPECT_TRUE(of_a.correlation == of_b.correlation);
  EXPECT_TRUE(names_of(a, of_a.name) == names_of(b, of_b.name));
  EXPECT_TRUE(lanes_of(of_a, lanes_a) == lanes_of(of_b, lanes_b));
}

void expect_equal(const Trace& a, const Trace& b) {
  const auto on_gpu = [&](const Spans& of_a, const Spans& of_b) {
    expect_equal_spans(a, of_a, a.gpu_lanes, b, of_b, b.gpu_lanes);
  };
  const auto on_thread = [&](const Spans& of_a, const Spans& of_b) {
    expect_equal_spans(a, of_a, a.thread_lanes, b, of_b, b.thread_lanes);
  };
  on_gpu(a.kernels, b.kernels);
  EXPECT_TRUE(a.kernels.grid == b.kernels.grid);
  EXPECT_TRUE(a.kernels.block == b.kernels.block);
  EXPECT_TRUE(a.kernels.registers == b.kernels.registers);
  EXPECT_TRUE(a.kernels.shared_bytes == b.kernels.shared_bytes);
  EXPECT_TRUE(a.kernels.graph_node == b.kernels.graph_node);
  on_gpu(a.copies, b.copies);
  EXPECT_TRUE(a.copies.bytes == b.copies.bytes);
  on_gpu(a.sets, b.sets);
  EXPECT_TRUE(a.sets.bytes == b.sets.bytes);
  on_gpu(a.syncs, b.syncs);
  on_thread(a.calls, b.calls);
  on_thread(a.ranges, b.ranges);
  EXPECT_TRUE(a.ranges.kind == b.ranges.kind);
  EXPECT_TRUE(a.ranges.sequence == b.ranges.sequence);
  EXPECT_TRUE(a.ranges.forward_thread == b.ranges.forward_thread);
  on_thread(a.nodes, b.nodes);
  EXPECT_TRUE(names_of(a, a.nodes.operation) == names_of(b, b.nodes.operation));
  EXPECT_TRUE(names_of(a, a.nodes.provider) == names_of(b, b.nodes.provider));
  EXPECT_TRUE(a.nodes.activation_bytes == b.nodes.activation_bytes);
  EXPECT_TRUE(a.nodes.parameter_bytes == b.nodes.parameter_bytes);
  EXPECT_TRUE(a.nodes.output_bytes == b.nodes.output_bytes);
  const auto& of_a = a.allocations;
  const auto& of_b = b.allocations;
  EXPECT_TRUE(of_a.time_ns == of_b.time_ns);
  EXPECT_TRUE(of_a.bytes == of_b.bytes);
  EXPECT_TRUE(of_a.address == of_b.address);
  EXPECT_TRUE(of_a.allocated_bytes == of_b.allocated_bytes);
  EXPECT_TRUE(of_a.reserved_bytes == of_b.reserved_bytes);
  EXPECT_TRUE(of_a.device == of_b.device);
  EXPECT_TRUE(of_a.kind == of_b.kind);
  EXPECT_TRUE(names_of(a, of_a.place) == names_of(b, of_b.place));
  ASSERT_EQ(a.devices.size(), b.devices.size());
  for (std::size_t i = 0; i < a.devices.size(); ++i) {
    EXPECT_EQ(a.devices[i].id, b.devices[i].id);
    EXPECT_EQ(a.devices[i].name, b.devices[i].name);
    EXPECT_EQ(a.devices[i].multiprocessors, b.devices[i].multiprocessors);
    EXPECT_EQ(a.devices[i].compute_capability, b.devices[i].compute_capability);
  }
  EXPECT_TRUE(b.notes.empty());
}

class ChromeExportTest : public TraceFilesTest {
 protected:
  /// The trace, written and read again.
  template <typename Import>
  base::Result<Trace> again(const Trace& trace, Import import, const std::string& name = "out.json") const {
    const auto path = (folder_ / name).string();
    RL_TRY(write_chrome_json(trace, path));
    return import(path);
  }
  template <typename Import>
  void expect_round_trip(const Trace& trace, Import import) const {
    for (const auto* name : {"out.json", "out.json.gz"}) {
      SCOPED_TRACE(name);
      const auto read = again(trace, import, name);
      ASSERT_TRUE(read) << read.error().message;
      expect_equal(trace, *read);
    }
  }
};

constexpr const char* kOfPytorch =
    R"JSON({"deviceProperties":[{"id":3,"name":"NVIDIA \"H100\"","computeMajor":9,"computeMinor":0,"numSms":132},{"id":4,"name":"x"}],
"traceEvents":[
 {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":8,"ts":2839462723.123,"dur":20.5,"args":{"Sequence number":12,"Fwd thread id":9}},
 {"ph":"X","cat":"user_annotation","name":"ÄÖ核\u0001\n\\","pid":7,"tid":8,"ts":2839462723.999,"dur":0.001},
 {"ph":"X","cat":"overhead","name":"","pid":-1,"tid":0,"ts":-5.5,"dur":0},
 {"ph":"X","cat":"python_function","name":"nn.Module: Linear_0","pid":7,"tid":1099511627777,"ts":1,"dur":100},
 {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":8,"ts":10,"dur":1.001,"args":{"correlation":44}},
 {"ph":"X","cat":"cuda_driver","name":"cuLaunchKernel","pid":3,"tid":8,"ts":10.5,"dur":1,"args":{"correlation":45}},
 {"ph":"X","cat":"kernel","name":"gemm<\"x\">","pid":3,"tid":7,"ts":12,"dur":3,"args":{"grid":[1,2,3],"block":[32,1,1],"device":3,"context":1,"stream":7,"correlation":44,"registers per thread":40,"shared memory":1024,"graph node id":-5}},
 {"ph":"X","cat":"kernel","name":"plain","pid":3,"tid":7,"ts":11,"dur":3},
 {"ph":"X","cat":"kernel","name":"other context","pid":3,"tid":7,"ts":11,"dur":3,"args":{"device":3,"context":2,"stream":7}},
 {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":3,"tid":7,"ts":20,"dur":2,"args":{"device":3,"context":1,"stream":7,"bytes":4096,"correlation":45}},
 {"ph":"X","cat":"gpu_memset","name":"Memset (Device)","pid":3,"tid":7,"ts":20,"dur":2,"args":{"stream":9}},
 {"ph":"X","cat":"cuda_sync","name":"Stream Sync","pid":3,"tid":7,"ts":20,"dur":2,"args":{"device":3,"context":1,"stream":-1}}
]})JSON";

TEST_F(ChromeExportTest, import_gives_the_same_columns) {
  const auto trace = import_kineto(write(kOfPytorch));
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->gpu_lanes.size(), 5U);
  expect_round_trip(*trace, import_kineto);
}

TEST_F(ChromeExportTest, is_json_with_arrows_and_a_place_for_each_stream) {
  const auto trace = import_kineto(write(kOfPytorch));
  ASSERT_TRUE(trace);
  const auto path = (folder_ / "out.json").string();
  ASSERT_TRUE(write_chrome_json(*trace, path));
  const auto text = base::read_file(path);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("\"ts\":2839462723.123,\"dur\":20.500"), std::string::npos);
  EXPECT_NE(text->find("\"ts\":-5.500,\"dur\":0.000"), std::string::npos);
  const auto json = base::parse_json(*text, "");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ((*json)["schemaVersion"], 1);
  std::map<std::string, std::vector<int>> flows;
  std::map<std::string, std::pair<int, int>> places;
  for (const auto& event : (*json)["traceEvents"]) {
    if (event.value("cat", "") == "ac2g") flows[event["ph"]].push_back(event["id"]);
    if (event.value("cat", "") == "kernel") places[event["name"]] = {event["pid"], event["tid"]};
  }
  // Process 3 and process 7 both called.
  EXPECT_EQ(flows, (std::map<std::string, std::vector<int>>{{"s", {1, 2}}, {"f", {1, 2}}}));
  EXPECT_NE(places["gemm<\"x\">"].first, 3) << "a process has that number";
  EXPECT_NE(places["gemm<\"x\">"], places["other context"]);
}

TEST_F(ChromeExportTest, processes_keep_their_gpu_work) {
  Trace trace;
  for (const auto process : {100, 200}) {
    trace.calls.add(process, 5, trace.strings.id("cudaMemcpyAsync"), trace.thread_lane({process, process}), 1);
    trace.kernels.add(process, 5, trace.strings.id("k"), trace.gpu_lane({process, 0, 1, 7}), 1);
    trace.kernels.grid.emplace_back();
    trace.kernels.block.emplace_back();
    trace.kernels.registers.push_back(0);
    trace.kernels.shared_bytes.push_back(0);
    trace.kernels.graph_node.push_back(~std::uint64_t{0});
  }
  expect_round_trip(trace, import_kineto);
}

TEST_F(ChromeExportTest, memory_comes_back_the_same) {
  Trace trace;
  const auto lane = trace.thread_lane({7, 8});
  const auto place = trace.strings.id("\"train.py\"(41): step");
  using enum AllocationKind;
  trace.allocations.add({-1500, 300, 4096, 300, 4096, 1, lane, place, held});
  trace.allocations.add({-1500, 2048, 4096, 300, 4096, 1, lane, 0, reserved});
  trace.allocations.add({2001, 20, 8192, 320, 4096, 1, lane, place, allocated});
  trace.allocations.add({2002, -20, 8192, 300, 4096, 1, lane, 0, freed});
  trace.allocations.add({2003, 1 << 20, 77, 300, 4096, 1, lane, place, out_of_memory});
  trace.allocations.add({2004, 5, 9, 5, 0, -1, lane, 0, allocated});
  expect_round_trip(trace, import_kineto);
}

TEST_F(ChromeExportTest, bytes_that_are_no_text_take_no_event_away) {
  auto trace = import_kineto(write(kOfPytorch));
  ASSERT_TRUE(trace);
  trace->kernels.name[0] = trace->strings.id("a\xff\xc3z\xe2\x82");
  const auto read = again(*trace, import_kineto);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->kernels.size(), 3U);
  EXPECT_EQ(read->strings.text(read->kernels.name[0]), "a\uFFFD\uFFFDz\uFFFD\uFFFD");
}

TEST_F(ChromeExportTest, nodes_alone_are_a_profile_of_onnxruntime) {
  const auto trace = import_onnxruntime(write(
      R"([{"cat" : "Session","pid" :10,"tid" :12,"dur" :500,"ts" :1,"ph" : "X","name" :"model_run","args" : {}},
      {"cat" : "Node","pid" :10,"tid" :12,"dur" :20,"ts" :5,"ph" : "X","name" :"conv1_kernel_time","args" : {"op_name" : "Conv","provider" : "CPUExecutionProvider","activation_size" : "49152","output_size" : "7"}}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  expect_round_trip(*trace, import_onnxruntime);
}

TEST_F(ChromeExportTest, public_traces_come_back_the_same) {
  const auto folder = std::filesystem::path(RL_SOURCE_DIR) / ".." / "shared" / "data" / "traces";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not here";
  for (const auto* name :
       {"b200_eager", "diff_test", "event_sync_multi_stream", "h100_qwen", "nccl", "ns_resolution"}) {
    SCOPED_TRACE(name);
    const auto trace = import_kineto((folder / fmt::format("kineto_{}.json.gz", name)).string());
    ASSERT_TRUE(trace) << trace.error().message;
    const auto read = again(*trace, import_kineto, "out.json.gz");
    ASSERT_TRUE(read) << read.error().message;
    expect_equal(*trace, *read);
  }
  const auto recorded = import_nsys((folder / "nsys_mfu_2gpu_before.sqlite").string());
  ASSERT_TRUE(recorded) << recorded.error().message;
  const auto read = again(*recorded, import_kineto);
  ASSERT_TRUE(read) << read.error().message;
  expect_equal(*recorded, *read);
}

TEST(JsonText, microseconds_are_exact) {
  const auto text = [](std::int64_t nanoseconds) {
    std::string out;
    append_microseconds(out, nanoseconds);
    return out;
  };
  EXPECT_EQ(text(0), "0.000");
  EXPECT_EQ(text(-1), "-0.001");
  EXPECT_EQ(text(1752839462723407123), "1752839462723407.123");
  EXPECT_EQ(text(std::numeric_limits<std::int64_t>::min()), "-9223372036854775.808");
}

}  // namespace
}  // namespace ridgeline::trace
