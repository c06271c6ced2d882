// SPDX-License-Identifier: Apache-2.0
#include "trace/import/bound_values.hpp"

#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "trace/analysis/tables.hpp"
#include "trace/findings/find_savings.hpp"

namespace ridgeline::trace {
namespace {

constexpr auto kLatest = std::numeric_limits<std::int64_t>::max();
constexpr auto kEarliest = std::numeric_limits<std::int64_t>::min();

void add_kernel(Trace& trace, std::int64_t start, std::int64_t duration, Dim3 grid = {1, 1, 1}) {
  auto& kernels = trace.kernels;
  kernels.add(start, duration, trace.strings.id("gemm"), trace.gpu_lane({1, 0, 0, 7}), 0);
  kernels.grid.push_back(grid);
  kernels.block.push_back({32, 1, 1});
  kernels.registers.push_back(0);
  kernels.shared_bytes.push_back(0);
  kernels.graph_node.push_back(0);
}

void add_node(Trace& trace, std::int64_t bytes, std::int64_t flops) {
  auto& nodes = trace.nodes;
  nodes.add(10, 5, trace.strings.id("conv"), trace.thread_lane({1, 1}), 0);
  nodes.operation.push_back(trace.strings.id("Conv"));
  nodes.provider.push_back(0);
  for (auto* column : {&nodes.activation_bytes, &nodes.parameter_bytes, &nodes.output_bytes}) column->push_back(bytes);
  nodes.flops.push_back(flops);
}

TEST(BoundValues, leaves_honest_traces_alone) {
  Trace trace;
  // Clocks that begin with the machine and clocks of the day in one file.
  add_kernel(trace, 12'000, 500);
  add_kernel(trace, 1'752'839'462'723'407'123, 40);
  add_node(trace, 1'000'000, -1);
  bound_values(trace);
  EXPECT_EQ(trace.kernels.start_ns, (std::vector<std::int64_t>{12'000, 1'752'839'462'723'407'123}));
  EXPECT_EQ(trace.kernels.duration_ns, (std::vector<std::int64_t>{500, 40}));
  EXPECT_TRUE(trace.notes.empty());
  Trace empty;
  bound_values(empty);
  EXPECT_TRUE(empty.notes.empty());
}

TEST(BoundValues, moves_times_that_differences_could_not_hold) {
  Trace trace;
  for (int i = 0; i < 5; ++i) add_kernel(trace, 1000 + i * 100, 50);
  add_kernel(trace, kEarliest, kLatest);
  add_kernel(trace, kLatest - 1, 1);
  add_kernel(trace, 1200, kLatest);
  bound_values(trace);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(trace.kernels.start_ns[i], 1000 + static_cast<std::int64_t>(i) * 100);
    EXPECT_EQ(trace.kernels.duration_ns[i], 50);
  }
  ASSERT_EQ(trace.notes.size(), 1U);
  EXPECT_EQ(fakes::text_of(trace.notes[0]), "events decades away from the others, moved to them: 3");
  const AnalysedTrace analysed(trace);
  const auto tables = tables_of(analysed);
  EXPECT_LE(tables.devices.at(0).busy_ns, tables.devices.at(0).span_ns);
}

TEST(BoundValues, sums_stay_within_64_bits) {
  Trace trace;
  for (int i = 0; i < 40; ++i) add_kernel(trace, i, std::int64_t{1} << 59);
  for (int i = 0; i < 5; ++i) add_node(trace, kLatest / 3, kLatest / 2);
  add_node(trace, -7, kEarliest);
  add_node(trace, 12, 24);
  bound_values(trace);
  const auto sum = [](const std::vector<std::int64_t>& column) {
    return std::accumulate(column.begin(), column.end(), 0.0);
  };
  EXPECT_LE(sum(trace.kernels.duration_ns), 1.2e18);
  EXPECT_EQ(trace.nodes.bytes(0), -1);
  EXPECT_EQ(trace.nodes.flops[5], -1);
  EXPECT_EQ(trace.nodes.bytes(6), 36);
  EXPECT_EQ(trace.nodes.flops[6], 24);
  EXPECT_EQ(trace.notes.size(), 1U);
  (void)tables_of(AnalysedTrace(trace));
}

TEST(BoundValues, memory_fits_into_64_bits) {
  Trace trace;
  const auto lane = trace.thread_lane({1, 1});
  const auto add = [&](std::int64_t time, std::int64_t bytes, std::int64_t total, std::int32_t device = 0) {
    const auto address = static_cast<std::int64_t>(trace.allocations.size());
    trace.allocations.add({time, bytes, address, total, total, device, lane, 0, AllocationKind::allocated});
  };
  add(1000, 300, 300);
  add(1100, -300, 0);
  bound_values(trace);
  EXPECT_TRUE(trace.notes.empty());
  EXPECT_EQ(trace.allocations.bytes, (std::vector<std::int64_t>{300, -300}));
  for (int i = 0; i < 5; ++i) add(1200, kLatest / 5, kLatest);
  add(kEarliest, kEarliest, kEarliest);
  add(kLatest, kLatest, 1, std::numeric_limits<std::int32_t>::max());
  bound_values(trace);
  const auto& all = trace.allocations;
  EXPECT_EQ(all.time_ns[0], 1000);
  EXPECT_GT(all.time_ns[7], kEarliest / 4);
  EXPECT_LT(all.time_ns[8], kLatest / 4);
  EXPECT_EQ(all.bytes[2], kLatest / 5);
  EXPECT_EQ(std::accumulate(all.bytes.begin() + 3, all.bytes.end(), std::int64_t{0}), 0);
  EXPECT_LT(all.allocated_bytes[2], kLatest / 4);
  EXPECT_EQ(all.allocated_bytes[7], 0);
  EXPECT_EQ(all.device[8], -1);
  ASSERT_EQ(trace.notes.size(), 2U);
  EXPECT_EQ(fakes::text_of(trace.notes[0]), "events decades away from the others, moved to them: 2");
  EXPECT_EQ(fakes::text_of(trace.notes[1]), "impossible durations, bytes, FLOPs and devices, left out: 19");
  (void)tables_of(AnalysedTrace(trace));
}

TEST(BoundValues, a_grid_of_any_size_is_counted) {
  Trace trace;
  constexpr auto kMostBlocks = std::numeric_limits<std::int32_t>::max();
  trace.devices.push_back({0, "GPU", 132, "9.0"});
  add_kernel(trace, 0, std::int64_t{1} << 58, {kMostBlocks, kMostBlocks, kMostBlocks});
  add_kernel(trace, std::int64_t{1} << 58, std::int64_t{1} << 58, {66, 1, 1});
  const AnalysedTrace analysed(trace);
  const auto findings = find_savings(analysed, tables_of(analysed));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].saving_ns, std::int64_t{1} << 57) << findings[0].rule();
}

}  // namespace
}  // namespace ridgeline::trace
