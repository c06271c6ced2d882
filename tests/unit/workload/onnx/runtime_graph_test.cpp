// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/runtime_graph.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "unit/workload/onnx/ort_fixture.hpp"

namespace ridgeline::workload {
namespace {

using fakes::TinyOnnx;

/// x [N, 8] through a product, then x (1 + erf(x / sqrt 2)) / 2 as exporters write GELU, then another product.
TinyOnnx gelu_model() {
  return TinyOnnx()
      .input("x", 1, {"N", "8"})
      .floats("w", {8, 16}, std::vector<float>(128, 0.1F))
      .floats("v", {16, 8}, std::vector<float>(128, 0.1F))
      .floats("root", {}, {1.41421356F})
      .floats("one", {}, {1})
      .floats("half", {}, {0.5F})
      .output("y", 1, {"N", "8"})
      .node("MatMul", {"x", "w"}, {"a"})
      .node("Div", {"a", "root"}, {"b"})
      .node("Erf", {"b"}, {"c"})
      .node("Add", {"c", "one"}, {"d"})
      .node("Mul", {"a", "d"}, {"e"})
      .node("Mul", {"e", "half"}, {"f"})
      .node("MatMul", {"f", "v"}, {"y"});
}

class RuntimeGraph : public OrtTest {
 protected:
  schema::TrialSpec gelu(std::int64_t batch, schema::Configuration configuration = {}) {
    auto trial = spec(gelu_model(), std::move(configuration));
    trial.workload.shapes = {{{"x", {batch, 8}}}};
    trial.workload.dim_names = {{"x", {"N", ""}}};
    return trial;
  }
};

constexpr double kFloat = 4;

TEST_F(RuntimeGraph, counts_what_is_left_after_fusion) {
  const auto fused = read_runtime_graph(gelu(4), test_search());
  ASSERT_TRUE(fused) << fused.error().message;
  EXPECT_EQ(fused->level, "extended");
  EXPECT_EQ(fused->nodes, 3) << "two products and a Gelu";
  const double ends = kFloat * (2 * 128 + 2 * 4 * 8);
  EXPECT_DOUBLE_EQ(fused->memory_bytes, ends + kFloat * 2 * 2 * 4 * 16) << "two results of [4, 16], written and read";
  const auto plain = read_runtime_graph(gelu(4, {{"graph_optimization_level", "basic"}}), test_search());
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->level, "basic");
  EXPECT_EQ(plain->nodes, 7);
  EXPECT_NEAR(plain->memory_bytes, ends + kFloat * 6 * 2 * 4 * 16, kFloat * 3) << "and three scalars";
}

TEST_F(RuntimeGraph, is_read_without_the_rewrites_that_the_configuration_leaves_out) {
  const auto biased = TinyOnnx()
                          .input("x", 1, {"2", "3", "8"})
                          .floats("w", {8, 16}, std::vector<float>(128, 0.1F))
                          .floats("bias", {16}, std::vector<float>(16, 0.1F))
                          .output("y", 1, {"2", "3", "16"})
                          .node("MatMul", {"x", "w"}, {"a"})
                          .node("Add", {"a", "bias"}, {"y"});
  const auto read = [&](schema::Configuration configuration) {
    auto trial = spec(biased, std::move(configuration));
    trial.workload.shapes = {{{"x", {2, 3, 8}}}};
    auto graph = read_runtime_graph(trial, test_search());
    EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
    return graph ? *graph : schema::RuntimeGraph{};
  };
  const schema::Configuration left_out{{"disable_specified_optimizers", "MatMulAddFusion"}};
  EXPECT_EQ(read({}).nodes, 3) << "a Gemm between two Reshapes";
  EXPECT_EQ(read(left_out).nodes, 2) << "MatMul, Add";
  EXPECT_TRUE(read(left_out).stands_for(left_out));
  EXPECT_FALSE(read(left_out).stands_for({}));
}

TEST_F(RuntimeGraph, grows_with_the_shape) {
  const auto small = read_runtime_graph(gelu(4), test_search());
  const auto large = read_runtime_graph(gelu(64), test_search());
  ASSERT_TRUE(small && large);
  const double weights = kFloat * 2 * 128;
  EXPECT_NEAR((large->memory_bytes - weights) / (small->memory_bytes - weights), 16, 0.1);
}

TEST_F(RuntimeGraph, leaves_nothing_behind) {
  const auto scratch = folder_ / "tmp";
  std::filesystem::create_directory(scratch);
  ::setenv("TMPDIR", scratch.c_str(), 1);
  EXPECT_TRUE(read_runtime_graph(gelu(4), test_search()));
  for (const auto& entry : std::filesystem::directory_iterator(scratch))  // of the runtime's telemetry neither
    ADD_FAILURE() << entry.path();
  ::setenv("TMPDIR", "/nowhere/at/all", 1);
  const auto failed = read_runtime_graph(gelu(4), test_search());
  ::unsetenv("TMPDIR");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, base::ErrorCode::io);
}

TEST_F(RuntimeGraph, a_provider_that_compiles_the_graph_is_unsupported) {
  auto trial = gelu(4);
  trial.provider = "tensorrt";
  const auto failed = read_runtime_graph(trial, test_search());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, base::ErrorCode::unsupported);
}

}  // namespace
}  // namespace ridgeline::workload
