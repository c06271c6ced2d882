// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "trace/analysis/tables.hpp"
#include "trace/findings/find_savings.hpp"
#include "trace/import/kineto_import.hpp"
#include "trace/import/ncu_import.hpp"

namespace ridgeline::trace {
namespace {

const std::string kTraces = std::string(RL_TEST_DATA) + "/traces/";

/// Two training steps of ResNet-50 (bf16 autocast) on an H200.
TEST(RecordedTraining, equals_an_independent_reading) {
  const auto trace = import_kineto(kTraces + "resnet_train_kineto.json.gz");
  ASSERT_TRUE(trace) << trace.error().message;
  const AnalysedTrace analysed(*trace);
  const auto tables = tables_of(analysed);
  // Counted and summed by a JSON parser of another language.
  EXPECT_EQ(trace->kernels.size(), 4416U);
  EXPECT_EQ(std::accumulate(trace->kernels.duration_ns.begin(), trace->kernels.duration_ns.end(), std::int64_t{0}),
            13'859'775);
  EXPECT_EQ(tables.operators.front().calls > 0, true);
  const auto row = [&](std::string_view path) {
    return *std::find_if(tables.modules.begin(), tables.modules.end(),
                         [&](const auto& one) { return one.path == path; });
  };
  // Two steps of 53 convolutions and as many normalizations; each gradient is with its forward operation.
  EXPECT_EQ(row("aten::conv2d").calls, 106);
  EXPECT_EQ(row("aten::batch_norm").calls, 106);
  EXPECT_GT(row("aten::conv2d").backward_ns * 10, row("aten::conv2d").gpu_total_ns * 6);
  for (const auto& module : tables.modules)
    EXPECT_FALSE(module.name.find("ConvolutionBackward") != std::string::npos)
        << "a gradient without its forward operation";
  const auto found = find_savings(analysed, tables);
  ASSERT_GE(found.size(), 2U);
  EXPECT_EQ(found[0].rule, "launch-bound");
  EXPECT_EQ(found[1].rule, "tiny-optimizer-kernels");
}

/// `ncu --csv --page raw` of ResNet-50 in ONNX Runtime on an H200.
TEST(RecordedCounters, are_read_by_name) {
  const auto counters = import_ncu(kTraces + "ncu_resnet50.csv.gz");
  ASSERT_TRUE(counters) << counters.error().message;
  EXPECT_GT(counters->size(), 300U);
  ASSERT_NE(counters->find("dram__bytes_read.sum"), nullptr);
  const auto& read = counters->find("dram__bytes_read.sum")->values;
  EXPECT_GT(std::accumulate(read.begin(), read.end(), 0.0), 1e8) << "the weights alone are 100 MB";
}

}  // namespace
}  // namespace ridgeline::trace
