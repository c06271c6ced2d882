// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/counted_launches.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "trace/analysis/tables.hpp"
#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {
namespace {

using schema::BytesSource;

class CountedLaunchesTest : public ::testing::Test, public TraceBuilder {
 protected:
  /// A launch that was counted, `path` as GraphNode::path.
  void counted(std::string_view name, std::string_view path, std::int64_t bytes, std::int64_t step = 2,
               std::int32_t graph_nodes = 0, Dim3 grid = {1000, 1, 1}) {
    auto& rows = trace.counted;
    rows.add(1'000'000'000 + std::ssize(rows.start_ns), 100, trace.strings.id(name), trace.gpu_lane({1, 0, 1, 7}), 0);
    rows.grid.push_back(graph_nodes > 0 ? Dim3{} : grid);
    rows.block.push_back(graph_nodes > 0 ? Dim3{} : Dim3{128, 1, 1});
    rows.path.push_back(trace.strings.id(path));
    rows.step.push_back(step);
    rows.graph_nodes.push_back(graph_nodes);
    rows.dram_read_bytes.push_back(bytes);
    rows.dram_write_bytes.push_back(bytes < 0 ? -1 : 0);
    rows.l2_bytes.push_back(2 * bytes);
    rows.tensor_permille.push_back(500);
  }
  /// Step `number` of the program, 10 us; on a lane of its own, as the recorder has it.
  std::int64_t step(std::int64_t number) {
    const auto begin = number * 10'000;
    annotation("ProfilerStep#" + std::to_string(number), begin, begin + 9'900, 0);
    return begin;
  }
  /// A node of a CUDA graph in a launch of it.
  void graph_kernel(std::string_view name, std::int64_t start, std::int64_t launch, std::uint64_t node) {
    kernel(name, start, start + 100, launch);
    trace.kernels.graph_node.back() = node;
  }
  void captured(std::uint64_t node, std::string_view path) {
    trace.graph_nodes.push_back({1, node, trace.strings.id(path)});
  }
  [[nodiscard]] std::vector<double> bytes() const {
    const AnalysedTrace analysed(trace);
    auto out = dram_bytes(counters_of(trace), join_counted(analysed));
    for (auto& value : out)
      if (std::isnan(value)) value = -1;
    return out;
  }
  using Bytes = std::vector<double>;
};

TEST_F(CountedLaunchesTest, every_recorded_step_gets_the_bytes_of_the_counted_one) {
  for (std::int64_t number = 3; number < 6; ++number) {
    const auto at = step(number);
    module("Net_0", at, at + 9000);
    module("Layer_0", at + 100, at + 4000);
    launch("f", at + 200, at + 1500, at + 1600);
    launch("f", at + 1700, at + 2900, at + 3000);
    module("Layer_1", at + 4000, at + 8000);
    launch("f", at + 4200, at + 5500, at + 5600);
  }
  counted("f", "2nn.Module: Net_0\n2nn.Module: Layer_0", 10);
  counted("f", "2nn.Module: Net_0\n2nn.Module: Layer_0", 20);
  counted("f", "2nn.Module: Net_0\n2nn.Module: Layer_1", 30);
  EXPECT_EQ(bytes(), (Bytes{10, 20, 30, 10, 20, 30, 10, 20, 30}));
}

TEST_F(CountedLaunchesTest, the_backward_pass_is_on_a_thread_of_its_own) {
  // It interleaves with the forward pass of the next micro-batch, and was launched in another order when counted.
  for (std::int64_t number = 3; number < 6; ++number) {
    const auto at = step(number);
    module("Net_0", at, at + 4000);
    launch("mul", at + 100, at + 2000, at + 2100);
    annotation("(backward)", at + 1000, at + 8000, 2);
    module("Net_0", at + 1100, at + 7000, 2);
    launch("mul", at + 1200, at + 2500, at + 2600, 2);
    module("Net_0", at + 4100, at + 8000);
    launch("mul", at + 4200, at + 5200, at + 5300);
  }
  counted("mul", "1(backward)\n2nn.Module: Net_0", 7);
  counted("mul", "2nn.Module: Net_0", 5);
  counted("mul", "2nn.Module: Net_0", 6);
  EXPECT_EQ(bytes(), (Bytes{5, 7, 6, 5, 7, 6, 5, 7, 6}));
}

TEST_F(CountedLaunchesTest, of_a_step_that_was_counted_in_part_the_rest_has_no_bytes) {
  for (std::int64_t number = 3; number < 6; ++number) {
    const auto at = step(number);
    module("Net_0", at, at + 9000);
    for (std::int64_t i = 0; i < 3; ++i) launch("f", at + 1000 * i, at + 1000 * i + 1200, at + 1000 * i + 1300);
  }
  counted("f", "2nn.Module: Net_0", 10);
  counted("f", "2nn.Module: Net_0", -1);
  EXPECT_EQ(bytes(), (Bytes{10, -1, -1, 10, -1, -1, 10, -1, -1}));
}

TEST_F(CountedLaunchesTest, where_a_path_is_unknown_function_grid_and_block_decide) {
  for (std::int64_t number = 3; number < 6; ++number) {
    const auto at = step(number);
    launch("f", at + 200, at + 1500, at + 1600);  // outside of all modules
    module("Net_0", at + 2000, at + 9000);
    launch("g", at + 2200, at + 3500, at + 3600);
    launch("h", at + 5200, at + 6500, at + 6600);
  }
  counted("f", "2nn.Module: Net_0", 10);
  counted("g", "", 20);
  counted("h", "2nn.Module: Other_0\n2nn.Module: Net_0", 30, 2, 0, {5, 1, 1});
  EXPECT_EQ(bytes(), (Bytes{10, 20, -1, 10, 20, -1, 10, 20, -1})) << "h has another grid";
}

TEST_F(CountedLaunchesTest, another_module_is_no_twin) {
  module("A_0", 0, 5000);
  launch("f", 200, 1500, 1600);
  module("B_0", 5000, 9000);
  launch("f", 6200, 7500, 7600);
  counted("f", "2nn.Module: B_0", 20, 0);
  counted("f", "2nn.Module: B_0", 30, 0);
  EXPECT_EQ(bytes(), (Bytes{-1, 20}));
}

TEST_F(CountedLaunchesTest, ranges_that_number_steps_or_began_before_the_recording_do_not_separate) {
  for (std::int64_t number = 3; number < 6; ++number) {
    const auto at = step(number);
    annotation("iteration " + std::to_string(number), at, at + 9000);
    module("Net_0", at + 100, at + 8000);
    launch("f", at + 200, at + 1500, at + 1600);
  }
  counted("f", "1training\n1iteration 2\n2nn.Module: Net_0", 10);
  EXPECT_EQ(bytes(), (Bytes{10, 10, 10}));
}

TEST_F(CountedLaunchesTest, a_second_run_counts_the_recorded_steps_themselves) {
  for (std::int64_t number = 3; number < 6; ++number) {
    const auto at = step(number);
    launch("f", at + 200, at + 1500, at + 1600);
  }
  for (std::int64_t number = 1; number < 6; ++number) counted("f", "", 10 * number, number);
  EXPECT_EQ(bytes(), (Bytes{30, 40, 50}));
}

TEST_F(CountedLaunchesTest, kernels_of_a_graph_have_the_bytes_of_an_uncaptured_step) {
  const std::string_view first = "2nn.Module: Net_0\n2nn.Module: Layer_0";
  const std::string_view second = "2nn.Module: Net_0\n2nn.Module: Layer_1";
  captured(11, first);
  captured(12, second);
  captured(13, second);
  for (std::int64_t number = 3; number < 6; ++number) {
    const auto at = step(number);
    call("cudaGraphLaunch", at + 100, at + 200, number);
    for (std::uint64_t node = 11; node < 14; ++node)
      graph_kernel("f", at + 1000 + static_cast<std::int64_t>(node) * 100, number, node);
  }
  counted("f", second, 20, 1);
  counted("f", first, 10, 1);
  counted("f", second, 30, 1);
  counted("CUDA graph", "2nn.Module: Net_0", 70, 2, 3);
  counted("CUDA graph", "2nn.Module: Net_0", 90, 2, 3);
  EXPECT_EQ(bytes(), (Bytes{10, 20, 30, 10, 20, 30, 10, 20, 30}));
  const AnalysedTrace analysed(trace);
  EXPECT_EQ(join_counted(analysed).source[0], BytesSource::uncaptured_step);
  const auto graphs = counted_graphs(trace);
  ASSERT_EQ(graphs.size(), 1U);
  EXPECT_EQ(graphs[0].launches, 2);
  EXPECT_EQ(graphs[0].nodes, 3);
  EXPECT_EQ(graphs[0].read_bytes, 160);
  EXPECT_EQ(graphs[0].l2_bytes, 320);
  EXPECT_EQ(graphs[0].total_ns, 200);
  EXPECT_EQ(graphs[0].tensor_share, 0.5);
  EXPECT_EQ(graphs[0].module, "Net_0");
}

TEST_F(CountedLaunchesTest, a_graph_alone_is_never_divided) {
  captured(11, "2nn.Module: Net_0");
  graph_kernel("f", 1000, 1, 11);
  counted("CUDA graph", "", 70, 2, 1);
  EXPECT_EQ(bytes(), Bytes{-1});
}

TEST_F(CountedLaunchesTest, counters_have_the_names_of_nsight_compute_and_only_what_was_counted) {
  counted("f", "", -1);
  trace.counted.l2_bytes[0] = 64;
  const auto counters = counters_of(trace);
  ASSERT_EQ(counters.metrics.size(), 3U);
  EXPECT_EQ(counters.metrics[0].name, "lts__t_bytes.sum");
  EXPECT_EQ(counters.metrics[1].name, "gpu__time_duration.sum");
  EXPECT_EQ(counters.metrics[1].values, std::vector<double>{100});
  EXPECT_EQ(counters.metrics[2].name, kTensorActivity);
  EXPECT_EQ(counters.metrics[2].values, std::vector<double>{50});
}

TEST_F(CountedLaunchesTest, tables_have_sources_and_coverage) {
  for (std::int64_t number = 3; number < 6; ++number) {
    const auto at = step(number);
    module("Net_0", at, at + 9000);
    launch("f", at + 200, at + 1500, at + 1800);
    launch("g", at + 2000, at + 3500, at + 3600);
  }
  counted("f", "2nn.Module: Net_0", 10);
  AnalysedTrace analysed(trace);
  const auto counters = counters_of(trace);
  const auto join = join_counted(analysed);
  EXPECT_EQ(join.matched, 1U);
  analysed.kernel_bytes = dram_bytes(counters, join);
  analysed.kernel_bytes_source = join.source;
  analysed.kernel_bytes_step = {2, 0, 2, 0, 2, 0};
  analysed.kernel_tensor = tensor_shares(counters, join);
  const auto tables = tables_of(analysed);
  ASSERT_EQ(tables.bytes.size(), 1U);
  EXPECT_EQ(tables.bytes[0].source, BytesSource::range_profiler);
  EXPECT_EQ(tables.bytes[0].first_step, 2);
  EXPECT_EQ(tables.bytes[0].last_step, 2);
  EXPECT_EQ(tables.bytes[0].launches, 3);
  EXPECT_EQ(tables.bytes[0].kernel_ns, 900);
  EXPECT_EQ(tables.kernels[0].bytes, 30);
  EXPECT_EQ(tables.kernels[0].bytes_source, BytesSource::range_profiler);
  EXPECT_EQ(tables.kernels[1].bytes_source, BytesSource::unknown);
  EXPECT_EQ(tables.modules.front().bytes, 30);
  EXPECT_EQ(tables.modules.front().bytes_source, BytesSource::range_profiler);
  EXPECT_EQ(tables.modules.front().tensor_ns, 450);
  EXPECT_EQ(tables.modules.front().tensor_of_ns, 900);
}

}  // namespace
}  // namespace ridgeline::trace
