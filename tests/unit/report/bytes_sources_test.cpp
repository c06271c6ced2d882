// SPDX-License-Identifier: Apache-2.0
#include "report/profile/bytes_sources.hpp"

#include <gtest/gtest.h>

#include "fakes/words.hpp"

namespace ridgeline::report {
namespace {

using schema::BytesSource;

schema::ProfileRun run_of(std::vector<schema::ProfileBytes> bytes) {
  schema::ProfileRun run;
  schema::ProfileKernel kernel;
  kernel.total_ns = 1000;
  run.tables.kernels = {kernel};
  run.tables.bytes = std::move(bytes);
  return run;
}

std::vector<std::string> notes(const schema::ProfileRun& run) { return fakes::texts_of(bytes_notes(run)); }

TEST(BytesSources, each_number_has_its_source_and_all_have_their_coverage) {
  EXPECT_EQ(
      notes(run_of({{BytesSource::range_profiler, 2, 2, false, 3, 970}})),
      std::vector<std::string>{"DRAM bytes are known for 97 % of the kernel time: measured in step 2, range profiler"});
  EXPECT_EQ(notes(run_of({{BytesSource::range_profiler, 2, 4, true, 3, 620},
                          {BytesSource::uncaptured_step, 1, 1, true, 3, 350}})),
            std::vector<std::string>{
                "DRAM bytes are known for 97 % of the kernel time: measured in steps 2 to 4 of a second run, range "
                "profiler (62 %); of an uncaptured step (step 1), range profiler (35 %)"});
  EXPECT_EQ(notes(run_of({{BytesSource::nsight_compute, 0, 0, false, 3, 1000}})),
            std::vector<std::string>{"DRAM bytes are known for 100 % of the kernel time: measured by Nsight Compute"});
  EXPECT_TRUE(notes(run_of({})).empty());
}

TEST(BytesSources, the_average_of_a_gpu_is_labelled) {
  auto run = run_of({});
  run.bandwidths.push_back({1, "NVIDIA H200", 1.2e12, 4.8e12, 12.5});
  run.tables.devices.emplace_back().span_ns = 6'000'000'000;
  EXPECT_TRUE(notes(run).empty()) << "most of the average is of what was not recorded";
  run.tables.devices[0].span_ns = 9'000'000'000;
  EXPECT_EQ(notes(run), std::vector<std::string>{
                            "GPU 1 moved 1200 GB/s on average over 12.5 s, 25 % of its peak: average of the whole GPU "
                            "(GPM), not divided among modules"});
}

TEST(BytesSources, graphs_have_their_bytes_per_launch) {
  auto run = run_of({});
  EXPECT_TRUE(graphs_table(fakes::words(), run).rows.empty());
  schema::ProfileGraph graph;
  graph.name = "CUDA graph";
  graph.module = "Net_0";
  graph.nodes = 5;
  graph.launches = 2;
  graph.read_bytes = 2 << 20;
  graph.write_bytes = 4 << 20;
  graph.total_ns = 2'000'000;
  run.tables.graphs.push_back(graph);
  EXPECT_EQ(notes(run), std::vector<std::string>{
                            "bytes of CUDA graphs are counted per launch, not per kernel: 3.00 MiB on average"});
  const auto table = graphs_table(fakes::words(), run);
  ASSERT_EQ(table.rows.size(), 1U);
  ASSERT_EQ(table.columns.size(), table.rows[0].cells.size());
  EXPECT_EQ(table.rows[0].cells[3], "1.00 ms");
  EXPECT_EQ(table.rows[0].cells[4], "1.00 MiB");
  EXPECT_EQ(table.rows[0].cells[5], "2.00 MiB");
  EXPECT_EQ(table.rows[0].cells[7], "range profiler");
}

TEST(BytesSources, of_older_runs_are_unknown) {
  const auto kernel = base::Json{{"name", "f"}, {"bytes", 5}}.get<schema::ProfileKernel>();
  EXPECT_EQ(kernel.bytes, 5);
  EXPECT_EQ(kernel.bytes_source, BytesSource::unknown);
  EXPECT_EQ(base::Json(kernel).get<schema::ProfileKernel>().bytes_source, BytesSource::unknown);
  EXPECT_EQ(merged(BytesSource::unknown, BytesSource::shapes), BytesSource::shapes);
  EXPECT_EQ(merged(BytesSource::range_profiler, BytesSource::shapes), BytesSource::mixed);
}

}  // namespace
}  // namespace ridgeline::report
