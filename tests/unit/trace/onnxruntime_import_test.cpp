// SPDX-License-Identifier: Apache-2.0
#include "trace/import/onnxruntime_import.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "fakes/words.hpp"
#include "trace/analysis/tables.hpp"
#include "trace/findings/find_savings.hpp"
#include "trace_files.hpp"

namespace ridgeline::trace {
namespace {

using OnnxRuntimeImportTest = TraceFilesTest;

// As ONNX Runtime 1.23 writes it.
constexpr const char* kProfile = R"([
{"cat" : "Session","pid" :5647,"tid" :5647,"dur" :26682,"ts" :7571,"ph" : "X","name" :"session_initialization","args" : {}},
{"cat" : "Node","pid" :5647,"tid" :5647,"dur" :1,"ts" :34710,"ph" : "X","name" :"conv1_fence_before","args" : {"op_name" : "Conv"}},
{"cat" : "Node","pid" :5647,"tid" :5647,"dur" :118,"ts" :34716,"ph" : "X","name" :"conv1_kernel_time","args" : {"activation_size" : "49152","parameter_size" : "1792","output_size" : "65536","node_index" : "246","thread_scheduling_stats" : {"main_thread": {"core": 1}},"provider" : "CPUExecutionProvider","op_name" : "Conv","input_type_shape" : [{"float":[1,3,64,64]}]}},
{"cat" : "Node","pid" :5647,"tid" :5648,"dur" :7,"ts" :34900,"ph" : "X","name" :"_kernel_time","args" : {"op_name" : "Relu","output_size" : "x"}},
{"cat" : "Session","pid" :5647,"tid" :5647,"dur" :6536,"ts" :34694,"ph" : "X","name" :"model_run","args" : {}}
])";

TEST_F(OnnxRuntimeImportTest, reads_nodes_and_what_the_session_did) {
  const auto trace = import_onnxruntime(write(kProfile));
  ASSERT_TRUE(trace) << trace.error().message;
  const auto& nodes = trace->nodes;
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(trace->strings.text(nodes.name[0]), "conv1");
  EXPECT_EQ(trace->strings.text(nodes.operation[0]), "Conv");
  EXPECT_EQ(trace->strings.text(nodes.provider[0]), "CPUExecutionProvider");
  EXPECT_EQ(nodes.start_ns[0], 34'716'000);
  EXPECT_EQ(nodes.duration_ns[0], 118'000);
  EXPECT_EQ(nodes.activation_bytes[0], 49152);
  EXPECT_EQ(nodes.parameter_bytes[0], 1792);
  EXPECT_EQ(nodes.output_bytes[0], 65536);
  EXPECT_EQ(trace->strings.text(nodes.name[1]), "") << "a node without a name";
  EXPECT_EQ(nodes.output_bytes[1], -1);
  EXPECT_EQ(trace->thread_lanes[nodes.lane[1]], (ThreadLane{5647, 5648}));
  ASSERT_EQ(trace->ranges.size(), 2U);
  EXPECT_EQ(trace->strings.text(trace->ranges.name[1]), "model_run");
}

TEST_F(OnnxRuntimeImportTest, says_what_a_file_lacks_and_where_it_is_cut) {
  const auto none = import_onnxruntime(write(R"([{"cat":"kernel","name":"x","ts":1,"dur":2}])"));
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("no nodes of an ONNX model among 1 events"), std::string::npos);
  EXPECT_NE(none.error().hint.find("enable_profiling"), std::string::npos);
  const std::string text = kProfile;
  const auto cut = import_onnxruntime(write(text.substr(0, text.size() - 60)));
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_EQ(fakes::texts_of(cut->notes), (std::vector<std::string>{"the file is cut off: it ends after 4 events"}));
}

// Two nodes on a GPU: what the profiler writes of their kernels stands behind them. The last one has another parent.
constexpr const char* kGpuProfile = R"([
{"cat":"Session","pid":1,"tid":1,"dur":1000,"ts":1,"ph":"X","name":"model_run","args":{}},
{"cat":"Node","pid":1,"tid":1,"dur":24,"ts":10,"ph":"X","name":"/net/a/Conv_kernel_time","args":{"op_name":"Conv","provider":"CUDAExecutionProvider","activation_size":"8","parameter_size":"8","output_size":"8","input_type_shape":[{"float":[1,8,8,8]},{"float":[8,8,1,1]}],"output_type_shape":[{"float":[1,8,8,8]}]}},
{"cat":"Kernel","pid":-1,"tid":-1,"dur":200,"ts":50,"ph":"X","name":"gemm","args":{"op_name":"Conv","stream":"13","block_x":"256","block_y":"1","block_z":"1","grid_x":"64","grid_y":"2","grid_z":"1"}},
{"cat":"Kernel","pid":-1,"tid":-1,"dur":5,"ts":250,"ph":"X","name":"MemcpyHtoD","args":{"op_name":"Conv","stream":"13"}},
{"cat":"Node","pid":1,"tid":1,"dur":20,"ts":260,"ph":"X","name":"/net/b/Relu_kernel_time","args":{"op_name":"Relu","provider":"CUDAExecutionProvider"}},
{"cat":"Kernel","pid":-1,"tid":-1,"dur":400,"ts":300,"ph":"X","name":"relu","args":{"op_name":"Relu","stream":"13"}},
{"cat":"Kernel","pid":-1,"tid":-1,"dur":7,"ts":800,"ph":"X","name":"lost","args":{"op_name":"Gemm","stream":"14"}}
])";

TEST_F(OnnxRuntimeImportTest, kernels_on_a_gpu_count_and_nodes_there_are_launches) {
  const auto trace = import_onnxruntime(write(kGpuProfile));
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->kernels.size(), 3U);
  EXPECT_EQ(trace->kernels.grid[0], (Dim3{64, 2, 1}));
  EXPECT_EQ(trace->copies.size(), 1U);
  ASSERT_EQ(trace->notes.size(), 1U);
  EXPECT_NE(fakes::text_of(trace->notes[0]).find("times on a GPU are those of launches"), std::string::npos);
  EXPECT_NE(fakes::text_of(trace->notes[0]).find("3 kernels"), std::string::npos);
  const AnalysedTrace analysed(*trace);
  const auto tables = tables_of(analysed);
  ASSERT_EQ(tables.devices.size(), 1U);
  EXPECT_EQ(tables.devices[0].kernel_ns, 607'000);
  EXPECT_EQ(tables.steps.at(0).work_ns, 612'000) << "of the GPU, and not of the launches";
  for (const auto& node : tables.nodes) {
    EXPECT_EQ(node.bytes, -1) << node.name;
    EXPECT_EQ(node.flops, -1) << "no rate follows from a launch's time";
  }
  const auto row = [&](const std::string& path) {
    return *std::find_if(tables.modules.begin(), tables.modules.end(),
                         [&](const auto& module) { return module.path == path; });
  };
  EXPECT_EQ(row("net/a").gpu_total_ns, 205'000);
  EXPECT_EQ(row("net/b/Relu").gpu_total_ns, 400'000);
  EXPECT_EQ(row("net/a").flops, -1);
  EXPECT_TRUE(find_savings(analysed, tables).empty() ||
              find_savings(analysed, tables)[0].rule() != "elementwise-chain");
}

TEST_F(OnnxRuntimeImportTest, launches_without_kernels_and_unknown_providers_are_named) {
  std::string text = kGpuProfile;
  for (std::size_t at = 0; (at = text.find("\"Kernel\"", at)) != std::string::npos;) text.replace(at, 8, "\"Fabric\"");
  const auto launches = import_onnxruntime(write(text));
  ASSERT_TRUE(launches);
  ASSERT_EQ(launches->notes.size(), 2U);
  EXPECT_EQ(fakes::text_of(launches->notes[0]), "events of a kind that is not read: 4 of Fabric");
  EXPECT_NE(fakes::text_of(launches->notes[1]).find("the GPU's work is not in them"), std::string::npos);
  EXPECT_TRUE(find_savings(AnalysedTrace(*launches), tables_of(AnalysedTrace(*launches))).empty());
  for (std::size_t at = 0; (at = text.find("CUDA", at)) != std::string::npos;) text.replace(at, 4, "Odd");
  const auto odd = import_onnxruntime(write(text));
  ASSERT_TRUE(odd);
  ASSERT_EQ(odd->notes.size(), 2U);
  EXPECT_NE(fakes::text_of(odd->notes[1]).find("node times of OddExecutionProvider may be those of launches"),
            std::string::npos);
  EXPECT_TRUE(import_onnxruntime(write(kProfile))->notes.empty()) << "on a CPU they are what they seem";
}

/// An event, with times in microseconds.
std::string event(const std::string& category, const std::string& name, std::int64_t start, const std::string& duration,
                  int process = 1, int thread = 1, const std::string& operation = "Conv") {
  return fmt::format(R"({{"cat":"{}","pid":{},"tid":{},"dur":{},"ts":{},"ph":"X","name":"{}","args":{{"op_name":"{}",)"
                     R"("provider":"CPUExecutionProvider"}}}},)"
                     "\n",
                     category, process, thread, duration, start, name, operation);
}

/// Runs of two nodes, each of 1000 µs, in which these take 400; a run stands behind its nodes, as ONNX Runtime has it,
/// or before.
std::string session(int runs, std::int64_t from = 0, int process = 1, int thread = 1, bool runs_first = false) {
  auto out = event("Session", "model_loading_uri", from, "50", process, thread) +
             event("Session", "session_initialization", from + 60, "30", process, thread);
  for (int i = 0; i < runs; ++i) {
    const auto at = from + 1000 + 1200 * i;
    const auto run = event("Session", "model_run", at, "1000", process, thread);
    if (runs_first) out += run;
    out += event("Node", "/a/Conv_kernel_time", at + 100, "400", process, thread) +
           event("Node", "/b/Conv_kernel_time", at + 500, "400", process, thread);
    if (!runs_first) out += run;
  }
  return out;
}

class WholeRunsTest : public TraceFilesTest {
 protected:
  /// What is left of a file: its runs and nodes, and the notes.
  void read(const std::string& events, bool cut = false) {
    auto trace = import_onnxruntime(write("[" + events + (cut ? "" : "]")));
    ASSERT_TRUE(trace) << trace.error().message;
    notes = fakes::texts_of(trace->notes);
    tables = tables_of(AnalysedTrace(*trace));
    for (const auto& step : tables.steps) EXPECT_EQ(step.work_ns, 800'000) << "whole, and counted once";
  }
  [[nodiscard]] std::int64_t calls_of_nodes() const {
    std::int64_t calls = 0;
    for (const auto& node : tables.nodes) calls += node.calls;
    return calls;
  }
  schema::ProfileTables tables;
  std::vector<std::string> notes;
};

TEST_F(WholeRunsTest, one_session_of_several_counts_and_the_others_are_named) {
  const std::vector<std::string> named{
      "the file has profiles of 2 sessions: the tables are for the one with the longest time; left out: 3 runs with 6 "
      "nodes"};
  read(session(5) + session(3, 50'000));
  EXPECT_EQ(tables.steps.size(), 5U);
  EXPECT_EQ(notes, named);
  read(session(3, 300) + session(5));  // their times overlap: each counts from its own zero
  EXPECT_EQ(tables.steps.size(), 5U);
  EXPECT_EQ(notes, named);
  read(session(3) + session(5, 300, 2));
  EXPECT_EQ(tables.steps.size(), 5U);
  EXPECT_EQ(calls_of_nodes(), 10);
  EXPECT_EQ(notes, named);
}

TEST_F(WholeRunsTest, events_that_are_in_the_file_twice_count_once) {
  read(session(5) + session(5));
  EXPECT_EQ(tables.steps.size(), 5U);
  EXPECT_EQ(calls_of_nodes(), 10);
  EXPECT_EQ(notes, std::vector<std::string>{"second copies of the same events, left out: 17"});
}

TEST_F(WholeRunsTest, sessions_that_cannot_be_told_apart_are_refused) {
  std::string mixed;
  for (const auto& [name, from] : {std::pair{"x", 0}, std::pair{"y", 70}})
    for (int i = 0; i < 4; ++i)
      mixed += event("Session", "model_run", from + 1200 * i, "1000") +
               event("Node", std::string(name) + "_kernel_time", from + 1200 * i + 10, "800");
  const auto trace = import_onnxruntime(write("[" + mixed + "]"));
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("runs or nodes of one thread overlap"), std::string::npos);
  EXPECT_NE(trace.error().hint.find("each session alone"), std::string::npos);
}

TEST_F(WholeRunsTest, a_run_that_was_cut_does_not_count) {
  const auto next = event("Node", "/a/Conv_kernel_time", 7100, "400");
  read(session(5) + next, true);
  EXPECT_EQ(tables.steps.size(), 5U);
  EXPECT_EQ(calls_of_nodes(), 10);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[1], "nodes outside of whole runs, left out: 1");
  read(session(5, 0, 1, 1, true) + event("Session", "model_run", 7000, "1000") + next, true);
  EXPECT_EQ(tables.steps.size(), 5U);
  EXPECT_EQ(calls_of_nodes(), 10);
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_EQ(notes[1], "runs that end at the cut, left out: 1");
  read(session(5), true);
  EXPECT_EQ(tables.steps.size(), 5U) << "its last run is whole";
  read(session(1, 0, 1, 1, true), true);
  EXPECT_TRUE(tables.steps.empty());
  EXPECT_EQ(calls_of_nodes(), 2) << "there are no others";
  ASSERT_EQ(tables.missing.size(), 1U);
  EXPECT_EQ(fakes::text_of(tables.missing[0]).find("no whole run of the model"), 0U)
      << fakes::text_of(tables.missing[0]);
}

TEST_F(WholeRunsTest, times_that_cannot_be_are_named_and_left_out) {
  const auto huge = "1" + std::string(15, '0');
  read(session(5) + event("Node", "/c/Relu_kernel_time", 1950, huge) +
       event("Node", "/d/Relu_kernel_time", 1960, "-5"));
  EXPECT_EQ(calls_of_nodes(), 8) << "its time would be that of other nodes of the run";
  EXPECT_EQ(tables.steps.size(), 4U);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0], "events without a time or a valid duration, left out: 1");
  EXPECT_EQ(notes[1].substr(0, 49), "nodes that outlast their run, left out: 1 (/c/Rel");
  EXPECT_NE(notes[1].find(", with the 1 run that they are in"), std::string::npos) << notes[1];
  read(session(5) + event("Session", "model_run", 900, huge));
  EXPECT_EQ(tables.steps.size(), 5U);
  EXPECT_EQ(notes, std::vector<std::string>{"runs that overlap others on their thread, left out: 1"});
  // Without runs: what ends hours behind all others.
  read(event("Node", "/a/Conv_kernel_time", 100, "400") + event("Node", "/b/Conv_kernel_time", 500, "400") +
       event("Node", "/c/Conv_kernel_time", 900, "400") + event("Node", "/d/Relu_kernel_time", 1300, huge));
  EXPECT_EQ(calls_of_nodes(), 3);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("hours longer than everything else, left out: 1"), std::string::npos) << notes[0];
}

TEST_F(OnnxRuntimeImportTest, calls_of_cuda_are_read) {
  std::string text = kGpuProfile;
  text.insert(text.rfind(']'),
              R"(,{"cat":"Api","pid":1,"tid":1,"dur":4,"ts":12,"ph":"X","name":"cudaLaunchKernel","args":{}})");
  const auto trace = import_onnxruntime(write(text));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->calls.duration_ns, std::vector<std::int64_t>{4000});
  EXPECT_EQ(fakes::text_of(trace->notes.front()),
            "1 call of CUDA or HIP on the host, 4.00 µs in total; the file does not show which work they launched");
  const auto tables = tables_of(AnalysedTrace(*trace));
  ASSERT_FALSE(tables.missing.empty());
  EXPECT_EQ(fakes::text_of(tables.missing[0]).find("no record of which call"), 0U) << fakes::text_of(tables.missing[0]);
  for (const auto& idle : tables.devices.at(0).idle) EXPECT_EQ(idle.cause, schema::IdleCause::unknown);
}

TEST_F(OnnxRuntimeImportTest, a_product_without_its_weights_has_no_rates) {
  const auto node = [](const std::string& name, const std::string& inputs) {
    return fmt::format(R"({{"cat":"Node","pid":1,"tid":1,"dur":9,"ts":{},"ph":"X","name":"{}_kernel_time","args":{{)"
                       R"("op_name":"MatMul","activation_size":"8192","parameter_size":"0","output_size":"8192",)"
                       R"("input_type_shape":[{}],"output_type_shape":[{{"float":[1,2048]}}]}}}})",
                       name == "packed" ? 1 : 20, name, inputs);
  };
  const auto trace = import_onnxruntime(write("[" + node("packed", R"({"float":[1,2048]})") + "," +
                                              node("whole", R"({"float":[1,2048]},{"float":[2048,2048]})") + "]"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->nodes.bytes(0), -1);
  EXPECT_EQ(trace->nodes.bytes(1), 16384);
  EXPECT_EQ(trace->nodes.flops, (std::vector<std::int64_t>{-1, 2 * 2048 * 2048}));
  EXPECT_EQ(fakes::texts_of(trace->notes),
            (std::vector<std::string>{"nodes whose weights were packed before the run, and so are not "
                                      "in the profile: 1; no GB/s for these"}));
  const auto tables = tables_of(AnalysedTrace(*trace));
  EXPECT_EQ(tables.modules.front().flops_ns, 9000) << "those of the node whose operations are counted";
}

TEST_F(OnnxRuntimeImportTest, nodes_with_stray_commas_are_read) {
  std::string text = "[";
  for (int i = 0; i < 300; ++i)
    text += R"({"cat" : "Node","pid" :1,"tid" :1,"dur" :2,"ts" :)" + std::to_string(i * 10) +
            R"(,"ph" : "X","name" :"conv_kernel_time","args" : {"op_name" : "Conv","input_type_shape" : [)" +
            (i % 50 == 6 ? R"({"float":[1,3,64,64]},],)" : R"({"float":[1,3,64,64]}],)") +
            R"("output_type_shape" : [{"float":[1,8,64,64]}]}},)";
  const auto trace = import_onnxruntime(write(text + "]"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->nodes.size(), 300U);
  EXPECT_EQ(fakes::texts_of(trace->notes), (std::vector<std::string>{"events with damaged JSON, repaired: 6"}));
}

}  // namespace
}  // namespace ridgeline::trace
