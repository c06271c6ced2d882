// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/loading_code.hpp"

#include <gtest/gtest.h>

#include "schema/catalog.hpp"

namespace ridgeline::workload {
namespace {

schema::TrialSpec spec_of(const std::string& provider, schema::Configuration configuration) {
  schema::TrialSpec spec;
  spec.workload.location = "/models/det.onnx";
  spec.runtime.version = "1.24.1";
  spec.runtime.library_path = "/v/libonnxruntime.so.1.24.1";
  spec.provider = provider;
  spec.configuration = std::move(configuration);
  return spec;
}

TEST(LoadingCode, has_runtime_provider_and_settings) {
  const auto code = loading_code(
      spec_of("openvino",
              {{"graph_optimization_level", "extended"}, {"openvino_threads", 2}, {"parallel_sessions", 2}}),
      RuntimeAccess::opened);
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_EQ(code->python, R"(import onnxruntime as ort

options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
session = ort.InferenceSession("/models/det.onnx", options, providers=[("OpenVINOExecutionProvider", {"load_config": "{\"CPU\":{\"INFERENCE_NUM_THREADS\":\"2\"}}"}), "CPUExecutionProvider"])
# not an option of a session: parallel_sessions=2
)");
  for (
      const auto* line :
      {R"(dlopen("/v/libonnxruntime.so.1.24.1", RTLD_NOW | RTLD_LOCAL))", "GetApi(24)",
       "options.SetGraphOptimizationLevel(ORT_ENABLE_EXTENDED);",
       R"(options.AppendExecutionProvider_OpenVINO_V2({{"load_config", "{\"CPU\":{\"INFERENCE_NUM_THREADS\":\"2\"}}"}});)"})
    EXPECT_NE(code->cpp.find(line), std::string::npos) << line << "\n" << code->cpp;
}

TEST(LoadingCode, registers_a_plugin) {
  auto spec = spec_of("webgpu", {});
  spec.plugin = schema::ProviderPlugin{"/p/plugin.so", "", "WebGpuExecutionProvider", "", "GPU"};
  const auto code = loading_code(spec, RuntimeAccess::opened);
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_NE(code->python.find(R"(ort.register_execution_provider_library("WebGpuExecutionProvider", "/p/plugin.so"))"),
            std::string::npos)
      << code->python;
  EXPECT_NE(code->cpp.find(R"(env.RegisterExecutionProviderLibrary("WebGpuExecutionProvider", "/p/plugin.so");)"),
            std::string::npos)
      << code->cpp;
}

TEST(LoadingCode, knows_every_option_of_a_session) {
  for (const auto& param : schema::catalog()) {
    if (param.scope != schema::ParamScope::session_option) continue;
    const auto& value = param.choices.empty() ? schema::Value(1) : param.choices.front();
    const auto code = loading_code(spec_of("cpu", {{param.key, value}}), RuntimeAccess::linked);
    ASSERT_TRUE(code) << param.key;
    const auto bare = loading_code(spec_of("cpu", {}), RuntimeAccess::linked);
    EXPECT_GT(code->python.size(), bare->python.size()) << param.key;
    EXPECT_GT(code->cpp.size(), bare->cpp.size()) << param.key;
  }
}

}  // namespace
}  // namespace ridgeline::workload
