// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/run_notes.hpp"
#include "unit/trace/planted_trace.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kMib = 1 << 20;

/// Two runs of an ONNX model of 1 ms each; times in microseconds.
class PlantedNodes : public PlantedTrace {
 protected:
  template <typename Body>
  void runs(Body body) {
    for (std::int64_t run = 0; run < 2; ++run) {
      at_us_ = run * 1000;
      annotation("model_run", at_us_ * 1000, at_us_ * 1000 + 900'000);
      body();
    }
  }
  void add(std::string_view name, std::string_view operation, std::int64_t us, std::int64_t input_bytes = -1,
           std::int64_t output_bytes = -1) {
    node(name, operation, at_us_ * 1000, (at_us_ + us) * 1000, input_bytes, 20, output_bytes);
    at_us_ += us;
  }

 private:
  std::int64_t at_us_ = 0;
};

TEST_F(PlantedNodes, elementwise_chain) {
  runs([&] {
    add("/block/Conv", "Conv", 300);
    add("/block/Mul", "Mul", 50, kMib, kMib);
    add("/block/Add", "Add", 30, kMib, 2 * kMib);
    add("/block/Clip", "Clip", 20, 2 * kMib, kMib);
    add("/block/Pool", "MaxPool", 100);
  });
  const auto* finding = find("elementwise-chain");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "1 chain of elementwise nodes, 100 µs per run; fused, about 50.0 µs per run");
  EXPECT_EQ(finding->saving_ns, 2 * (30'000 + 20'000)) << "all but the longest, in two runs";
  EXPECT_NEAR(finding->saving_share, 50.0 / 900, 1e-9) << "of a run, which takes 400 us outside of its nodes";
  EXPECT_EQ(finding->module, "block");
  EXPECT_EQ(finding->evidence,
            (Evidence{"50.0 µs in block", "1 x /block/Mul: 50.0 µs", "1 x /block/Add: 30.0 µs",
                      "1 x /block/Clip: 20.0 µs", "6.00 MiB of intermediate results, from the shapes"}))
      << "1 MiB and 2 MiB, written and read";
  EXPECT_NE(finding->computed.find("minus that of the longest node of each"), std::string::npos);
  expect_code(*finding, {"ridgeline tune model.onnx --provider auto"});
}

TEST_F(PlantedNodes, normalization_behind_a_convolution) {
  runs([&] {
    add("/block/Conv", "Conv", 300);
    add("/block/BatchNormalization", "BatchNormalization", 100, kMib, kMib);
    add("/block/Pool", "MaxPool", 100);
  });
  const auto* finding = find("unfused-normalization");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "1 node after convolutions that could be part of them, 100 µs per run");
  EXPECT_EQ(finding->saving_ns, 200'000);
  EXPECT_EQ(finding->module, "block");
  EXPECT_EQ(finding->evidence, (Evidence{"100 µs in block", "1 x /block/BatchNormalization: 100 µs",
                                         "2.00 MiB read and written by them, from the shapes"}));
  expect_code(*finding, {"ORT_ENABLE_ALL"});
}

TEST_F(PlantedNodes, layouts_and_casts) {
  runs([&] {
    add("/Conv", "Conv", 300);
    add("/Transpose", "Transpose", 40, kMib, kMib);
    add("/Pool", "MaxPool", 100);
    add("/Cast", "Cast", 10);
  });
  const auto* finding = find("layout");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "2 nodes only for layouts, copies and casts, 50.0 µs per run");
  EXPECT_EQ(finding->saving_ns, 100'000);
  EXPECT_EQ(finding->module, "") << "the model has no parts";
  EXPECT_EQ(finding->evidence, (Evidence{"1 x /Transpose: 40.0 µs", "1 x /Cast: 10.0 µs",
                                         "2.00 MiB read and written by them, from the shapes"}));
  EXPECT_EQ(finding->computed, "their time");
}

TEST_F(PlantedNodes, attention) {
  runs([&] {
    add("/attention/MatMul", "MatMul", 50);
    add("/attention/Div", "Div", 30, kMib, kMib);
    add("/attention/Softmax", "Softmax", 70, kMib, kMib);
    add("/attention/MatMul_1", "MatMul", 50);
  });
  const auto* finding = find("unfused-attention");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "1 unfused attention, 100 µs per run between the two products");
  EXPECT_EQ(finding->saving_ns, 2 * (30'000 + 70'000));
  EXPECT_EQ(finding->module, "attention");
  EXPECT_EQ(finding->evidence,
            (Evidence{"100 µs in attention", "1 x /attention/Softmax: 70.0 µs", "1 x /attention/Div: 30.0 µs",
                      "4.00 MiB read and written by them, from the shapes"}));
  expect_code(*finding, {"onnxruntime.transformers.optimizer"});
}

TEST_F(PlantedNodes, a_softmax_between_products_of_parameters_is_no_attention) {
  runs([&] {
    add("/gate/MatMul", "MatMul", 50);
    add("/gate/Softmax", "Softmax", 70, kMib, kMib);
    add("/gate/MatMul_1", "MatMul", 50);
  });
  ASSERT_NE(find("unfused-attention"), nullptr);
  trace.nodes.parameter_bytes.assign(trace.nodes.size(), 4096);
  EXPECT_EQ(find("unfused-attention"), nullptr);
}

/// A run that another program interrupted is most of the mean, and says nothing of the model.
TEST_F(PlantedNodes, an_interrupted_run_is_left_out_and_the_sums_hold) {
  const auto run = [&](std::int64_t at_us, std::int64_t cast_us, std::int64_t bytes = kMib) {
    annotation("model_run", at_us * 1000, (at_us + 30 + cast_us) * 1000);
    node("/Conv", "Conv", at_us * 1000, (at_us + 25) * 1000, bytes);
    node("/Cast", "Cast", (at_us + 25) * 1000, (at_us + 25 + cast_us) * 1000, bytes);
  };
  for (std::int64_t i = 0; i < 5; ++i) run(i * 100, 10);
  run(1000, 4000);
  const auto* finding = find("layout");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "1 node only for layouts, copies and casts, 10.0 µs per run");
  EXPECT_EQ(finding->saving_ns, 5 * 10'000) << "of a run of 40 us, not 675 us";
  EXPECT_DOUBLE_EQ(finding->saving_share, 0.25);
  const AnalysedTrace analysed(trace);
  const auto tables = tables_of(analysed);
  EXPECT_EQ(tables.runs, 5);
  EXPECT_EQ(tables.modules.front().host_total_ns, 5 * 40'000) << "nodes, and what runs take outside of them";
  EXPECT_EQ(tables.nodes.front().calls, 5);
  EXPECT_EQ(tables.nodes.back().total_ns, 5 * 10'000);
  ASSERT_EQ(tables.steps.size(), 6U);
  EXPECT_TRUE(tables.steps.back().left_out);
  EXPECT_EQ(tables.modules.front().step_ns.back(), 4'030'000) << "a comparison has every step";
  EXPECT_EQ(tables.modules.front().step_bytes, std::vector<std::int64_t>(6, 2 * kMib));
  EXPECT_EQ(fakes::texts_of(run_notes(analysed)).at(0),
            "runs that take more than twice the median for no more work, left out of times by node and of savings: 1 "
            "of 6, the longest 4.03 ms");
}

TEST_F(PlantedNodes, a_run_with_more_to_do_stays_and_no_saving_is_larger_than_the_median_run) {
  const auto run = [&](std::int64_t at_us, std::int64_t cast_us, std::int64_t bytes) {
    annotation("model_run", at_us * 1000, (at_us + 10 + cast_us) * 1000);
    node("/Cast", "Cast", at_us * 1000, (at_us + cast_us) * 1000, bytes);
  };
  for (std::int64_t i = 0; i < 5; ++i) run(i * 100, 40, kMib);
  run(1000, 4000, 64 * kMib);
  const auto* finding = find("layout");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "1 node only for layouts, copies and casts, 700 µs per run");
  EXPECT_EQ(finding->saving_ns, 6 * 50'000);
  EXPECT_EQ(finding->computed, "at most: the median run");
  const AnalysedTrace analysed(trace);
  EXPECT_EQ(fakes::texts_of(run_notes(analysed)),
            std::vector<std::string>{"runs that take more than twice the median, which count in all times: 1 of 6, the "
                                     "longest 4.01 ms"});
}

TEST_F(PlantedNodes, many_slow_runs_are_no_exception_and_neither_are_those_of_a_gpu) {
  const auto run = [&](std::int64_t at_us, std::int64_t us) {
    annotation("model_run", at_us * 1000, (at_us + us) * 1000);
    node("/Conv", "Conv", at_us * 1000, (at_us + us) * 1000);
  };
  for (std::int64_t i = 0; i < 6; ++i) run(i * 1000, 100);
  for (std::int64_t i = 6; i < 10; ++i) run(i * 1000, 300);
  EXPECT_EQ(tables_of(AnalysedTrace(trace)).runs, 10);
  EXPECT_EQ(fakes::texts_of(run_notes(AnalysedTrace(trace))),
            std::vector<std::string>{"runs that take more than twice the median, which count in all times: 4 of 10, "
                                     "the longest 300 µs"});
  trace = {};
  for (std::int64_t i = 0; i < 5; ++i) run(i * 1000, i == 0 ? 900 : 100);
  kernel("conv", 1000, 2000, 0);
  EXPECT_EQ(fakes::texts_of(run_notes(AnalysedTrace(trace))),
            std::vector<std::string>{"runs that take more than twice the median, which count in all times: 1 of 5, "
                                     "the longest 900 µs"});
}

TEST_F(PlantedNodes, nodes_that_not_every_run_has_are_named) {
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto at = i * 100'000;
    annotation("model_run", at, at + 90'000);
    node("/pre/Conv", "Conv", at, at + 30'000);
    node(i % 2 == 0 ? "/if/then/Gemm" : "/if/else/Gemm", "Gemm", at + 30'000, at + (i % 2 == 0 ? 40'000 : 50'000));
  }
  EXPECT_EQ(fakes::texts_of(run_notes(AnalysedTrace(trace))),
            std::vector<std::string>{"nodes that not every run has: 2 (/if/else/Gemm: 2 of 4 runs); their times are "
                                     "means over all runs"});
}

TEST_F(PlantedNodes, a_model_that_is_fused_has_no_finding) {
  runs([&] {
    add("/Conv", "FusedConv", 300);
    add("/Add", "Add", 20);
    add("/Attention", "Attention", 100);
    add("/MatMul", "MatMul", 100);
    add("/Softmax", "Softmax", 20);  // of the classes: the next run begins with what is no part of it
  });
  EXPECT_TRUE(findings().empty());
}

}  // namespace
}  // namespace ridgeline::trace
