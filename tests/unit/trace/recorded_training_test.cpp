// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "trace/analysis/tables.hpp"
#include "trace/findings/find_savings.hpp"
#include "trace/import/kineto_import.hpp"
#include "trace/import/ncu_import.hpp"
#include "trace/import/snapshot_import.hpp"

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
  EXPECT_EQ(found[0].rule(), "launch-bound");
  EXPECT_EQ(found[1].rule(), "tiny-optimizer-kernels");
}

/// `torch.cuda.memory._dump_snapshot` of torch 2.11 after two steps of ResNet-18 with AdamW on an H200,
/// stacks="python".
TEST(RecordedMemory, equals_an_independent_reading) {
  const auto trace = import_snapshot(kTraces + "resnet18_snapshot.pickle.gz");
  ASSERT_TRUE(trace) << trace.error().message;
  const AnalysedTrace analysed(*trace);
  const auto tables = tables_of(analysed);
  ASSERT_EQ(tables.memory.size(), 1U);
  const auto& memory = tables.memory.front();
  EXPECT_EQ(memory.allocations, 642);
  EXPECT_EQ(memory.frees, 642);
  // What the program asked for; by torch.cuda.max_memory_allocated, which rounds each up, it was 296,708,096.
  EXPECT_EQ(memory.peak_allocated_bytes, 292'615'400);
  EXPECT_EQ(memory.end_bytes, 247'888'832);
  EXPECT_EQ(memory.peak_reserved_bytes, 326LL << 20);
  ASSERT_GE(memory.holders.size(), 3U);
  EXPECT_EQ(memory.holders[0].place, "(before the recording)");
  EXPECT_EQ(memory.holders[1].place, "(unknown place)") << "gradients, by threads without Python";
  EXPECT_EQ(memory.holders[0].bytes + memory.holders[1].bytes, 247'888'832);
  EXPECT_EQ(memory.holders[2].place, "snap.py(11): step") << "the optimizer's";
  ASSERT_EQ(tables.missing.size(), 1U);
  EXPECT_TRUE(fakes::text_of(tables.missing.front()).starts_with("no locations for 304 allocations"))
      << fakes::text_of(tables.missing.front());
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
