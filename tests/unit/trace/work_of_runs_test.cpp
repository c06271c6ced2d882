// SPDX-License-Identifier: Apache-2.0
#include "trace/record/work_of_runs.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "trace/analysis/tables.hpp"
#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kStart = 5'000'000;  // zero of the profile, on the recorder's clock

/// Two runs of a node of 80 us, from 100 and 300 us on.
Trace model_profile() {
  TraceBuilder builder;
  for (const std::int64_t begin : {100'000, 300'000}) {
    builder.annotation("model_run", begin, begin + 100'000);
    builder.node("/encoder/MatMul", "MatMul", begin + 10'000, begin + 90'000);
  }
  return std::move(builder.trace);
}

TEST(WorkOfRuns, kernels_that_runs_launched_join_their_nodes) {
  TraceBuilder recorded;
  for (const std::int64_t begin : {100'000, 200'000, 300'000})  // the second: of the session without a profile
    recorded.launch("gemm", kStart + begin + 20'000, kStart + begin + 30'000, kStart + begin + 40'000);
  recorded.launch("of_another_thread", kStart + 330'000, kStart + 340'000, kStart + 350'000, 2);
  recorded.launch_copy("Memcpy HtoD", kStart + 302'000, kStart + 303'000, kStart + 304'000, 100);
  auto trace = model_profile();
  add_work_of_runs(std::move(recorded.trace), kStart, trace);
  ASSERT_EQ(trace.kernels.size(), 3U);
  EXPECT_EQ(trace.copies.size(), 1U);
  EXPECT_EQ(trace.kernels.start_ns.front(), 130'000);
  const AnalysedTrace analysed(trace);
  const auto tables = tables_of(analysed);
  const auto node = std::find_if(tables.modules.begin(), tables.modules.end(),
                                 [](const auto& one) { return one.path == "encoder/MatMul"; });
  ASSERT_NE(node, tables.modules.end());
  EXPECT_EQ(node->kernels, 2);
  EXPECT_EQ(node->gpu_total_ns, 20'000);
  EXPECT_EQ(analysed.kernels.row.back(), analysed.attribution.unattributed);
  EXPECT_EQ(analysed.attribution.rows[analysed.attribution.unattributed].name, "(outside of nodes)");
  ASSERT_EQ(tables.steps.size(), 2U);
  EXPECT_EQ(tables.steps[0].work_ns, 10'000);
  EXPECT_EQ(tables.steps[1].kernels, 2);
}

TEST(WorkOfRuns, a_recording_without_kernels_of_the_process_changes_nothing) {
  TraceBuilder recorded;
  recorded.launch("gemm", kStart + 120'000, kStart + 130'000, kStart + 140'000);
  for (auto& lane : recorded.trace.thread_lanes) lane.process = 9;
  for (auto& lane : recorded.trace.gpu_lanes) lane.process = 9;
  auto trace = model_profile();
  add_work_of_runs(std::move(recorded.trace), kStart, trace);
  EXPECT_EQ(trace.kernels.size(), 0U);
  EXPECT_EQ(trace.calls.size(), 0U);
  EXPECT_EQ(trace.nodes.size(), 2U);
}

}  // namespace
}  // namespace ridgeline::trace
