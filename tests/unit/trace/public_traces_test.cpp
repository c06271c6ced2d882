// SPDX-License-Identifier: Apache-2.0
// Public traces, which are not part of the project: tests skip where their folder is not beside it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>

#include "trace/analysis/device_time.hpp"
#include "trace/analysis/launch_index.hpp"
#include "trace/analysis/nesting.hpp"
#include "trace/analysis/tables.hpp"
#include "trace/findings/find_savings.hpp"
#include "trace/import/kineto_import.hpp"
#include "trace/import/nsys_import.hpp"

namespace ridgeline::trace {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(RL_SOURCE_DIR) / ".." / "shared" / "data" / "traces";

class PublicTracesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << kFolder << " is not here";
  }
};

struct Row {
  const char* file;
  std::size_t kernels, copies, sets, calls, ranges, syncs;
};

void expect(const base::Result<Trace>& trace, const Row& row) {
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_TRUE(trace->notes.empty());
  EXPECT_EQ(trace->kernels.size(), row.kernels);
  EXPECT_EQ(trace->copies.size(), row.copies);
  EXPECT_EQ(trace->sets.size(), row.sets);
  EXPECT_EQ(trace->calls.size(), row.calls);
  EXPECT_EQ(trace->ranges.size(), row.ranges);
  EXPECT_EQ(trace->syncs.size(), row.syncs);
}

/// A line of comma-separated values, quoted where they have commas.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      out.emplace_back();
    else if (c != '\r')
      out.back() += c;
  }
  return out;
}

TEST_F(PublicTracesTest, kernels_of_qwen_are_those_of_an_independent_table) {
  const auto trace = import_kineto((kFolder / "kineto_h100_qwen.json.gz").string());
  ASSERT_TRUE(trace) << trace.error().message;
  std::ifstream file(kFolder / "kineto_h100_qwen.kernel_summary.csv");
  std::string line;
  std::getline(file, line);
  std::map<std::string, std::pair<double, long>> expected;
  while (std::getline(file, line)) {
    const auto row = cells(line);
    if (row.size() < 6 || row[2].empty()) continue;
    auto& [sum, count] = expected[row[2]];
    sum += std::stod(row[4]);
    count += std::stol(row[5]);
  }
  const auto table = tables_of(AnalysedTrace(*trace)).kernels;
  std::int64_t total_ns = 0;
  std::int64_t calls = 0;
  for (const auto& row : table) {
    EXPECT_NEAR(static_cast<double>(row.total_ns) * 1e-3, expected[row.name].first, 1e-3) << row.name;
    EXPECT_EQ(row.calls, expected[row.name].second) << row.name;
    total_ns += row.total_ns;
    calls += row.calls;
  }
  EXPECT_EQ(calls, 1465);
  EXPECT_EQ(total_ns, 45'432'698);
  EXPECT_EQ(table.size(), expected.size());
}

TEST_F(PublicTracesTest, memory_of_qwen_is_that_of_a_plain_reading) {
  const auto trace = import_kineto((kFolder / "kineto_h100_qwen.json.gz").string());
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->allocations.size(), 2450U);
  const auto rows = tables_of(AnalysedTrace(*trace)).memory;
  ASSERT_EQ(rows.size(), 1U);
  // The largest "Total Allocated" of the GPU's events, and the "Total Reserved" beside it, read in Python.
  EXPECT_EQ(rows[0].peak_allocated_bytes, 2'088'508'416);
  EXPECT_EQ(rows[0].reserved_at_peak_bytes, 2'629'828'608);
  EXPECT_EQ(rows[0].allocations + rows[0].frees, 2250);
  EXPECT_LE(rows[0].series.size(), 500U);
  std::int64_t held = 0;
  for (const auto& holder : rows[0].holders) held += holder.bytes;
  EXPECT_LE(held, rows[0].peak_allocated_bytes);
}

TEST_F(PublicTracesTest, every_event_of_the_others_is_there) {
  // Counted by a JSON parser of another language.
  for (const auto& row :
       {Row{"kineto_b200_eager", 768, 161, 0, 1372, 20051, 0},
        Row{"kineto_diff_control", 8568, 228, 654, 24692, 40794, 0},
        Row{"kineto_diff_test", 9876, 4856, 900, 21167, 31524, 0}, Row{"kineto_nccl", 2700, 960, 114, 8740, 14388, 0},
        Row{"kineto_ns_resolution", 4350, 1600, 145, 15329, 23980, 0},
        Row{"kineto_event_sync_multi_stream", 3, 0, 3, 39, 6, 5}}) {
    SCOPED_TRACE(row.file);
    const auto trace = import_kineto((kFolder / (std::string(row.file) + ".json.gz")).string());
    expect(trace, row);
  }
}

TEST_F(PublicTracesTest, recordings_of_nsight_systems_are_complete) {
  struct Known : Row {
    std::int64_t kernels_ns;
  };
  // Counted and summed by SQL.
  for (const auto& row : {Known{{"nsys_h100_2gpu_1s", 3442, 904, 22, 5796, 16980, 244}, 44'829'522},
                          Known{{"nsys_healthy_1pct", 400, 0, 0, 400, 0, 0}, 400'000'000},
                          Known{{"nsys_mfu_2gpu_before", 4010, 1020, 269, 7466, 19124, 366}, 535'200'650}}) {
    SCOPED_TRACE(row.file);
    const auto trace = import_nsys((kFolder / (std::string(row.file) + ".sqlite")).string());
    expect(trace, row);
    ASSERT_TRUE(trace);
    const auto& durations = trace->kernels.duration_ns;
    EXPECT_EQ(std::accumulate(durations.begin(), durations.end(), std::int64_t{0}), row.kernels_ns);
    EXPECT_FALSE(trace->strings.text(trace->kernels.name[0]).empty());
    for (const auto& device : device_times(*trace)) {
      EXPECT_GT(device.busy_ns, 0);
      EXPECT_LE(device.busy_ns, device.span_ns);
      EXPECT_GE(device.both_ns, 0);
    }
  }
}

/// Tables of any file lose nothing: modules have the time of all work, idle time is what is left of the span.
void expect_whole(const Trace& trace) {
  const AnalysedTrace analysed(trace);
  const auto tables = tables_of(analysed);
  const auto sum = [](const Spans& work) {
    return std::accumulate(work.duration_ns.begin(), work.duration_ns.end(), std::int64_t{0});
  };
  ASSERT_FALSE(tables.modules.empty());
  const auto& root = tables.modules.front();
  EXPECT_EQ(root.gpu_total_ns, sum(trace.kernels) + sum(trace.copies) + sum(trace.sets));
  EXPECT_EQ(root.kernels, static_cast<std::int64_t>(trace.kernels.size()));
  std::int64_t kernels_ns = 0;
  for (const auto& row : tables.kernels) kernels_ns += row.total_ns;
  EXPECT_EQ(kernels_ns, sum(trace.kernels));
  for (const auto& device : tables.devices) {
    std::int64_t idle_ns = 0;
    for (const auto& idle : device.idle) idle_ns += idle.total_ns;
    EXPECT_EQ(idle_ns, device.span_ns - device.busy_ns);
  }
}

TEST_F(PublicTracesTest, tables_lose_nothing) {
  for (const auto* name : {"kineto_h100_qwen", "kineto_b200_eager", "kineto_diff_control", "kineto_diff_test",
                           "kineto_nccl", "kineto_ns_resolution", "kineto_event_sync_multi_stream"}) {
    SCOPED_TRACE(name);
    const auto trace = import_kineto((kFolder / (std::string(name) + ".json.gz")).string());
    ASSERT_TRUE(trace) << trace.error().message;
    expect_whole(*trace);
  }
  for (const auto* name : {"nsys_h100_2gpu_1s", "nsys_healthy_1pct", "nsys_mfu_2gpu_before"}) {
    SCOPED_TRACE(name);
    const auto trace = import_nsys((kFolder / (std::string(name) + ".sqlite")).string());
    ASSERT_TRUE(trace) << trace.error().message;
    expect_whole(*trace);
  }
}

TEST_F(PublicTracesTest, a_gpu_that_is_busy_99_percent_has_no_finding_about_waiting) {
  const auto trace = import_nsys((kFolder / "nsys_healthy_1pct.sqlite").string());
  ASSERT_TRUE(trace) << trace.error().message;
  const AnalysedTrace analysed(*trace);
  EXPECT_TRUE(find_savings(analysed, tables_of(analysed)).empty());
}

TEST_F(PublicTracesTest, what_waits_and_what_is_slow_is_found) {
  for (const auto& [name, rule] :
       std::vector<std::pair<std::string, std::string>>{{"kineto_b200_eager", "launch-bound"},
                                                        {"kineto_nccl", "launch-bound"},
                                                        {"kineto_diff_control", "exposed-communication"},
                                                        {"kineto_diff_test", "fp32-gemm"},
                                                        {"kineto_h100_qwen", "elementwise-chain"}}) {
    const auto trace = import_kineto((kFolder / (name + ".json.gz")).string());
    ASSERT_TRUE(trace) << trace.error().message;
    const AnalysedTrace analysed(*trace);
    const auto found = find_savings(analysed, tables_of(analysed));
    ASSERT_FALSE(found.empty()) << name;
    EXPECT_EQ(found.front().rule(), rule) << name;
    EXPECT_GT(found.front().saving_ns, 0);
  }
}

/// How many kernels were launched within a range.
std::size_t placed(const Trace& trace) {
  const auto nesting = nest(trace);
  const auto calls = LaunchIndex(trace).calls_of(trace.kernels);
  return static_cast<std::size_t>(std::count_if(calls.begin(), calls.end(), [&](Place call) {
    return call != kNowhere && nesting.range_of_call[call] != kNowhere;
  }));
}

TEST_F(PublicTracesTest, kernels_are_placed_where_they_were_launched) {
  // Found by a search through all ranges in another language. The calls that launched the other kernels are not in the
  // files.
  for (const auto& [name, known] : std::vector<std::pair<std::string, std::size_t>>{
           {"kineto_h100_qwen", 1029}, {"kineto_b200_eager", 768}, {"kineto_nccl", 2700}}) {
    const auto trace = import_kineto((kFolder / (name + ".json.gz")).string());
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(placed(*trace), known) << name;
  }
}

TEST_F(PublicTracesTest, what_cannot_be_used_is_one_line) {
  const auto trace = import_kineto((kFolder / "kineto_cupti_counters.json.gz").string());
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("range profiler"), std::string::npos) << trace.error().message;
  EXPECT_EQ(trace.error().message.find('\n'), std::string::npos);
}

TEST_F(PublicTracesTest, traces_of_other_gpus_and_of_none_are_read) {
  expect(import_kineto((kFolder / "kineto_amd.json.gz").string()), {"kineto_amd", 14, 2, 0, 21, 73, 0});
  const auto host = import_kineto((kFolder / "kineto_cpu_only.json.gz").string());
  expect(host, {"kineto_cpu_only", 0, 0, 0, 0, 15, 0});
  ASSERT_TRUE(host);
  const auto tables = tables_of(AnalysedTrace(*host));
  EXPECT_TRUE(tables.devices.empty());
  EXPECT_GT(tables.modules.front().host_total_ns, 0);
}

}  // namespace
}  // namespace ridgeline::trace
