// SPDX-License-Identifier: Apache-2.0
#include "trace/import/onnxruntime_import.hpp"

#include <algorithm>

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
  EXPECT_EQ(cut->notes, (std::vector<std::string>{"the file is cut off: it ends after 4 events"}));
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
  EXPECT_NE(trace->notes[0].find("times on a GPU are those of launches"), std::string::npos);
  EXPECT_NE(trace->notes[0].find("3 kernels"), std::string::npos);
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
  EXPECT_TRUE(find_savings(analysed, tables).empty() || find_savings(analysed, tables)[0].rule != "elementwise-chain");
}

TEST_F(OnnxRuntimeImportTest, launches_without_kernels_and_unknown_providers_are_named) {
  std::string text = kGpuProfile;
  for (std::size_t at = 0; (at = text.find("\"Kernel\"", at)) != std::string::npos;) text.replace(at, 8, "\"Fabric\"");
  const auto launches = import_onnxruntime(write(text));
  ASSERT_TRUE(launches);
  ASSERT_EQ(launches->notes.size(), 2U);
  EXPECT_EQ(launches->notes[0], "events of a kind that is not read: 4 of Fabric");
  EXPECT_NE(launches->notes[1].find("what the GPU does is not in them"), std::string::npos);
  EXPECT_TRUE(find_savings(AnalysedTrace(*launches), tables_of(AnalysedTrace(*launches))).empty());
  for (std::size_t at = 0; (at = text.find("CUDA", at)) != std::string::npos;) text.replace(at, 4, "Odd");
  const auto odd = import_onnxruntime(write(text));
  ASSERT_TRUE(odd);
  ASSERT_EQ(odd->notes.size(), 2U);
  EXPECT_NE(odd->notes[1].find("node times of OddExecutionProvider may be those of launches"), std::string::npos);
  EXPECT_TRUE(import_onnxruntime(write(kProfile))->notes.empty()) << "on a CPU they are what they seem";
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
  EXPECT_EQ(trace->notes, (std::vector<std::string>{"events with damaged JSON, put right: 6"}));
}

}  // namespace
}  // namespace ridgeline::trace
