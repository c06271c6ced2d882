// SPDX-License-Identifier: Apache-2.0
#include "report/profile/kernel_detail.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "report/profile/kernel_counters.hpp"
#include "report/profile/profile_report.hpp"
#include "report/renderers.hpp"

namespace ridgeline::report {
namespace {

constexpr std::int64_t kLaunches = 18;

/// A kernel of 18 launches; each counter is the same in all of them unless said otherwise.
class KernelDetailTest : public ::testing::Test {
 protected:
  KernelDetailTest() {
    kernel_.name = "void gemm<4>(int)";
    kernel_.calls = kLaunches;
    kernel_.total_ns = 9'000'000;
    kernel_.grid = {64, 1, 1};
    kernel_.block = {128, 1, 1};
  }
  void add(const std::string& name, const std::string& unit, double value) { add(name, unit, value, value, value); }
  void add(const std::string& name, const std::string& unit, double mean, double least, double most) {
    kernel_.counters.push_back({name, unit, kLaunches, mean * kLaunches, least, most});
  }
  [[nodiscard]] std::string value(std::string_view title) const {
    for (const auto& one : kernel_quantities(kernel_))
      if (one.title == title) return one.value + " of " + one.source->name;
    return "";
  }
  schema::ProfileKernel kernel_;
};

TEST_F(KernelDetailTest, memory_by_level) {
  add("dram__bytes_read.sum", "byte", 1 << 20, 1 << 19, 1 << 21);
  add("dram__bytes_write.sum", "byte", 1 << 19);
  add("l1tex__t_bytes.sum", "byte", 1 << 24);
  add("l1tex__t_sector_hit_rate.pct", "%", 33.34);
  add("lts__t_bytes.sum", "byte", 1 << 22);
  add("lts__t_sector_hit_rate.pct", "%", 61.25);
  EXPECT_EQ(value("DRAM read"), "1.00 MiB of dram__bytes_read.sum");
  EXPECT_EQ(value("DRAM written"), "512 KiB of dram__bytes_write.sum");
  EXPECT_EQ(value("L1/TEX bytes"), "16.0 MiB of l1tex__t_bytes.sum");
  EXPECT_EQ(value("L1/TEX hit rate"), "33.3 % of l1tex__t_sector_hit_rate.pct");
  EXPECT_EQ(value("L2 bytes"), "4.00 MiB of lts__t_bytes.sum");
  EXPECT_EQ(value("L2 hit rate"), "61.2 % of lts__t_sector_hit_rate.pct");
  EXPECT_EQ(value("achieved occupancy"), "") << "the file has none";
  const auto table = counter_detail(fakes::words(), kernel_).front().table;
  ASSERT_EQ(table.columns.size(), 5U) << "one of them varies";
  EXPECT_EQ(table.rows[0].cells,
            (std::vector<std::string>{"DRAM read", "1.00 MiB", "512 KiB", "2.00 MiB", "`dram__bytes_read.sum`"}));
  EXPECT_EQ(table.rows[1].cells[2], "");
}

TEST_F(KernelDetailTest, occupancy_and_what_limits_it) {
  add("launch__occupancy_limit_blocks", "block", 32);
  add("launch__occupancy_limit_registers", "block", 2);
  add("launch__occupancy_limit_shared_mem", "block", 4);
  add("launch__occupancy_limit_warps", "block", 16);
  add("launch__registers_per_thread", "register/thread", 168);
  add("launch__shared_mem_per_block", "byte/block", 49'152);
  add("launch__waves_per_multiprocessor", "", 1.25);
  add("sm__maximum_warps_per_active_cycle_pct", "%", 25);
  add("sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active", "%", 45.5);
  add("sm__warps_active.avg.pct_of_peak_sustained_active", "%", 22.9);
  EXPECT_EQ(value("achieved occupancy"), "22.9 % of sm__warps_active.avg.pct_of_peak_sustained_active");
  EXPECT_EQ(value("theoretical occupancy"), "25 % of sm__maximum_warps_per_active_cycle_pct");
  EXPECT_EQ(value("occupancy limited by"), "registers (2 blocks) of launch__occupancy_limit_registers");
  EXPECT_EQ(value("registers per thread"), "168 of launch__registers_per_thread");
  EXPECT_EQ(value("shared memory per block"), "48.0 KiB of launch__shared_mem_per_block");
  EXPECT_EQ(value("waves of blocks"), "1.25 of launch__waves_per_multiprocessor");
  EXPECT_EQ(value("tensor pipe active"),
            "45.5 % of sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active");
  kernel_.counters[2].sum = 2 * kLaunches;
  EXPECT_EQ(value("occupancy limited by"),
            "registers and shared memory (2 blocks) of launch__occupancy_limit_registers");
}

TEST_F(KernelDetailTest, names_of_the_details_page) {
  add("Achieved Occupancy", "%", 49.4);
  add("Block Limit Registers", "block", 8);
  add("Block Limit Warps", "block", 4);
  add("Duration", "ns", 4100);
  add("L2 Hit Rate", "%", 70);
  EXPECT_EQ(value("time of a counted launch"), "4.10 µs of Duration");
  EXPECT_EQ(value("achieved occupancy"), "49.4 % of Achieved Occupancy");
  EXPECT_EQ(value("occupancy limited by"), "warps (4 blocks) of Block Limit Warps");
  EXPECT_EQ(value("L2 hit rate"), "70 % of L2 Hit Rate");
}

TEST_F(KernelDetailTest, stalls_by_their_share_of_all_cycles) {
  const auto stall = [](const std::string& reason) {
    return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
  };
  add(stall("barrier"), "inst", 1.2);
  add(stall("long_scoreboard_not_issued"), "inst", 5);
  add(stall("long_scoreboard"), "inst", 6);
  add(stall("selected"), "inst", 1);
  auto stalls = warp_stalls(kernel_);
  ASSERT_EQ(stalls.size(), 2U) << "a warp that is selected issues; not_issued is a part of the other";
  EXPECT_EQ(stalls[0].reason, "long scoreboard");
  EXPECT_EQ(stalls[0].value, "6 cycles per issue");
  EXPECT_EQ(stalls[0].source->name, stall("long_scoreboard"));
  EXPECT_NEAR(stalls[0].share, 6 / 8.2, 1e-9) << "of what was recorded";
  EXPECT_NE(fakes::text_of(stalls[0].waits_for).find("DRAM"), std::string::npos);
  add("smsp__average_warp_latency_per_inst_issued.ratio", "cycle", 12);
  stalls = warp_stalls(kernel_);
  EXPECT_NEAR(stalls[0].share, 0.5, 1e-9) << "of all cycles of a warp";
  EXPECT_NEAR(stalls[1].share, 0.1, 1e-9);
}

TEST_F(KernelDetailTest, stalls_of_samples) {
  add("smsp__pcsamp_warps_issue_stalled_barrier", "", 25);
  add("smsp__pcsamp_warps_issue_stalled_barrier_not_issued", "", 20);
  add("smsp__pcsamp_warps_issue_stalled_selected", "", 75);
  const auto stalls = warp_stalls(kernel_);
  ASSERT_EQ(stalls.size(), 1U);
  EXPECT_EQ(stalls[0].value, "25 samples");
  EXPECT_NEAR(stalls[0].share, 0.25, 1e-9);
}

TEST_F(KernelDetailTest, every_counter_is_there_once) {
  add("dram__bytes_read.sum", "byte", 1000);
  add("launch__block_size", "", 128);
  add("smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "inst", 2);
  add("smsp__cycles_active.avg", "cycle", 700'000.5);
  const auto tables = kernel_detail(fakes::words(), kernel_);
  ASSERT_EQ(tables.size(), 4U);
  EXPECT_EQ(tables[0].title, "Launches");
  EXPECT_EQ(tables[1].title, "Hardware counters");
  EXPECT_EQ(tables[2].title, "Warp stalls");
  EXPECT_EQ(tables[3].title, "Other counters");
  ASSERT_EQ(tables[3].table.rows.size(), 2U);
  EXPECT_EQ(tables[3].table.rows[0].cells, (std::vector<std::string>{"`launch__block_size`", "128"}));
  EXPECT_EQ(tables[3].table.rows[1].cells, (std::vector<std::string>{"`smsp__cycles_active.avg`", "700000 cycle"}));
}

TEST_F(KernelDetailTest, a_rate_beyond_the_memory_is_none) {
  kernel_.bytes = 3 * kernel_.total_ns;
  const auto has_rate = [&](double peak) {
    const auto rows = kernel_detail(fakes::words(), kernel_, peak)[0].table.rows;
    return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.cells[0] == "GB/s"; });
  };
  EXPECT_TRUE(has_rate(0));
  EXPECT_TRUE(has_rate(3e9));
  EXPECT_FALSE(has_rate(2e9));
}

TEST_F(KernelDetailTest, without_counters_only_the_launches_are_known) {
  const auto tables = kernel_detail(fakes::words(), kernel_);
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].table.columns[0].title, "void gemm<4>(int)");
  EXPECT_EQ(tables[0].table.rows[2].cells[1], "0 ns, 500 µs, 0 ns");
  schema::ProfileRun run;
  run.tables.kernels = {kernel_};
  EXPECT_TRUE(counters_table(run, 10).rows.empty());
  EXPECT_EQ(find_kernel(run, "gemm"), &run.tables.kernels[0]);
  EXPECT_EQ(find_kernel(run, "nothing"), nullptr);
}

TEST_F(KernelDetailTest, reports_compare_kernels_and_show_the_one_that_is_asked_for) {
  add("dram__bytes_read.sum", "byte", 1 << 20);
  add("launch__block_size", "", 128);
  add("smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "inst", 2);
  schema::ProfileRun run;
  run.tables.kernels = {kernel_, kernel_};
  run.tables.kernels[1].name = "void other(int)";
  run.tables.kernels[1].counters.clear();
  const auto compared = counters_table(run, 10);
  ASSERT_EQ(compared.rows.size(), 1U);
  EXPECT_EQ(compared.columns.size(), 3U);
  EXPECT_EQ(compared.rows[0].cells, (std::vector<std::string>{"`gemm<4>`", "1.00 MiB", "wait (100 %)"}));
  const auto general = render_markdown(build_profile_report(fakes::words(), run));
  EXPECT_NE(general.find("## Hardware counters"), std::string::npos);
  EXPECT_NE(general.find("Warp stalls of gemm"), std::string::npos);
  EXPECT_EQ(general.find("launch__block_size"), std::string::npos);
  const auto asked = build_profile_report(fakes::words(), run, std::nullopt, "gemm");
  EXPECT_NE(render_markdown(asked).find("`launch__block_size`"), std::string::npos);
  EXPECT_NE(render_html(asked, "").find("Other counters of gemm"), std::string::npos);
  EXPECT_EQ(profile_json(fakes::words(), run).at("tables").at("kernels").at(0).at("counters").size(), 3U);
}

TEST_F(KernelDetailTest, the_counters_say_who_counted_them) {
  add("dram__bytes_read.sum", "byte", 1 << 20);
  const auto caption_of = [&](std::vector<schema::BytesSource> sources) {
    schema::ProfileRun run;
    for (const auto source : sources) {
      run.tables.kernels.push_back(kernel_);
      run.tables.kernels.back().bytes_source = source;
    }
    for (const auto& section : build_profile_report(fakes::words(), run).sections)
      if (section.id == "counters") return std::get<Table>(section.blocks.front()).caption;
    return std::string("none");
  };
  using enum schema::BytesSource;
  EXPECT_EQ(caption_of({range_profiler, uncaptured_step}),
            "Means per launch, counted by this recording; the longest kernels first.");
  EXPECT_EQ(caption_of({nsight_compute}), "Means per launch, measured by Nsight Compute; the longest kernels first.");
  EXPECT_EQ(caption_of({range_profiler, nsight_compute}),
            "Means per launch, measured by Nsight Compute or counted by this recording; the longest kernels first.");
}

}  // namespace
}  // namespace ridgeline::report
