// SPDX-License-Identifier: Apache-2.0
#include "trace/import/onnxruntime_import.hpp"

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
