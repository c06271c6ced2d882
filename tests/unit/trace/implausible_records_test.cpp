// SPDX-License-Identifier: Apache-2.0
#include "trace/import/implausible_records.hpp"

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "trace/analysis/tables.hpp"
#include "trace/findings/find_savings.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kToday = 1'615'207'264'505'000'000;

class ImplausibleRecordsTest : public ::testing::Test {
 protected:
  void call(std::int64_t start, std::int64_t correlation) {
    trace_.calls.add(start, 5'000, trace_.strings.id("cudaLaunchKernel"), trace_.thread_lane({0, 1}), correlation);
  }
  void kernel(std::int64_t start, std::int64_t duration, const char* name = "gemm", std::int64_t correlation = 0,
              std::int64_t stream = 7, std::uint64_t graph_node = 0) {
    auto& kernels = trace_.kernels;
    kernels.add(start, duration, trace_.strings.id(name), trace_.gpu_lane({0, 0, 1, stream}), correlation);
    kernels.grid.push_back({static_cast<std::int32_t>(kernels.size()), 1, 1});
    kernels.block.emplace_back();
    kernels.registers.push_back(0);
    kernels.shared_bytes.push_back(0);
    kernels.graph_node.push_back(graph_node);
  }
  void copy(std::int64_t start, std::int64_t duration) {
    trace_.copies.add(start, duration, trace_.strings.id("Memcpy"), trace_.gpu_lane({0, 0, 1, 7}), 0);
    trace_.copies.bytes.push_back(1);
  }
  void operation(std::int64_t start, std::int64_t duration, const char* name) {
    trace_.ranges.add(start, duration, trace_.strings.id(name), trace_.thread_lane({0, 1}), 0);
    trace_.ranges.kind.push_back(RangeKind::operation);
    trace_.ranges.sequence.push_back(-1);
    trace_.ranges.forward_thread.push_back(0);
  }
  /// Twenty kernels of 90 us, one every 100 us.
  void honest(std::int64_t from) {
    for (int i = 0; i < 20; ++i) {
      call(from + i * 100'000, i + 1);
      kernel(from + i * 100'000 + 10'000, 90'000, "gemm", i + 1);
    }
  }
  void check(std::size_t kernels, const std::string& note) {
    leave_out_implausible(trace_);
    EXPECT_EQ(trace_.kernels.size(), kernels);
    EXPECT_EQ(trace_.kernels.grid.size(), kernels);
    EXPECT_EQ(trace_.kernels.graph_node.size(), kernels);
    EXPECT_EQ(trace_.kernels.correlation.size(), kernels);
    if (note.empty()) {
      EXPECT_TRUE(trace_.notes.empty()) << fakes::text_of(trace_.notes.front());
      return;
    }
    ASSERT_EQ(trace_.notes.size(), 1U);
    EXPECT_EQ(fakes::text_of(trace_.notes.front()), note);
  }
  [[nodiscard]] std::int64_t span() const { return tables_of(AnalysedTrace(trace_)).span_ns; }

  Trace trace_;
};

TEST_F(ImplausibleRecordsTest, an_honest_trace_stays_as_it_is) {
  honest(0);
  kernel(5'000, 1'000'000, "beside", 0, 8);  // of another stream
  copy(100, 1'000);
  check(21, "");
}

TEST_F(ImplausibleRecordsTest, a_record_years_from_all_others_is_left_out) {
  honest(kToday);
  call(kToday + 50'000, 99);
  kernel(0, 0, "volta", 99);
  check(20, "records hours away from all others, left out: 1 (volta, 448668 h 41 m away)");
  EXPECT_EQ(span(), 1'990'000);
  EXPECT_EQ(trace_.calls.correlation.back(), 0) << "its launch is no lost one";
}

TEST_F(ImplausibleRecordsTest, records_of_two_days_are_two_parts_of_a_program) {
  honest(kToday);
  honest(kToday + 86'400'000'000'000);
  check(40, "");
}

TEST_F(ImplausibleRecordsTest, work_at_zero_is_left_out_where_it_was_launched_later) {
  honest(1'000'000'000);
  call(1'000'050'000, 99);
  kernel(0, 0, "volta", 99);
  check(20, "GPU work at time 0, before recording began, left out: 1 (volta)");
  EXPECT_EQ(span(), 1'990'000);
}

TEST_F(ImplausibleRecordsTest, work_at_zero_of_a_long_trace) {
  for (int i = 0; i < 20; ++i) kernel(5'000'000'000 + i * 3'000'000'000, 90'000);
  call(6'000'000'000, 99);
  kernel(0, 50'000, "launched", 99);
  kernel(0, 0, "without_times");
  kernel(0, 50'000, "first");
  leave_out_implausible(trace_);
  EXPECT_EQ(trace_.kernels.size(), 21U);
  EXPECT_EQ(trace_.strings.text(trace_.kernels.name.back()), "first");
}

TEST_F(ImplausibleRecordsTest, a_kernel_that_runs_over_others_of_its_stream_is_left_out) {
  honest(1'000'000'000);
  kernel(1'000'206'000, 1'600'000'000, "fmha_bwd", 500);
  copy(1'000'301'000, 1'000);
  check(20, "kernels that overlap others on their stream, left out: 1 (fmha_bwd, 1.60 s over 19 others)");
  EXPECT_EQ(span(), 1'990'000);
}

TEST_F(ImplausibleRecordsTest, work_that_the_file_has_twice_counts_once) {
  honest(0);
  for (int i = 0; i < 20; ++i) kernel(i * 100'000 + 10'000, 90'000, "gemm", i + 1);
  kernel(2'000'000, 0, "mark", 30);
  kernel(2'000'000, 0, "mark", 30);
  leave_out_implausible(trace_);
  EXPECT_EQ(trace_.kernels.size(), 22U);
  ASSERT_EQ(trace_.notes.size(), 2U);
  EXPECT_EQ(fakes::text_of(trace_.notes[0]), "second copies of the same GPU work, left out: 20 (gemm)");
  EXPECT_EQ(fakes::text_of(trace_.notes[1]).find("kernels that last 0 ns: 2 of 22; "), 0U);
  EXPECT_EQ(trace_.calls.correlation.front(), 1) << "its launch has work";
}

TEST_F(ImplausibleRecordsTest, a_launch_runs_one_kernel) {
  honest(0);
  for (int i = 0; i < 20; ++i) kernel(i * 100'000 + 10'001, 90'000, "gemm", i + 1);
  check(20, "second copies of the same GPU work, left out: 20 (gemm)");
}

TEST_F(ImplausibleRecordsTest, a_graph_and_two_processes_run_several_of_one_number) {
  trace_.calls.add(0, 5'000, trace_.strings.id("cudaGraphLaunch"), trace_.thread_lane({0, 1}), 1);
  for (int i = 0; i < 20; ++i) kernel(10'000 + i * 80, 100, "node", 1);
  for (int process = 0; process < 2; ++process) {
    trace_.calls.add(0, 5'000, trace_.strings.id("cudaLaunchKernel"), trace_.thread_lane({process, 1}), 2);
    kernel(50'000 + process * 10, 100, "rank", 2);
  }
  check(22, "");
}

TEST_F(ImplausibleRecordsTest, a_host_whose_events_are_all_there_twice) {
  for (int copy = 0; copy < 2; ++copy)
    for (int i = 0; i < 40; ++i) {
      operation(i * 100'000, 50'000, i % 2 == 0 ? "aten::mm" : "aten::add");
      trace_.calls.add(i * 100'000, 5'000, trace_.strings.id("cudaLaunchKernel"), trace_.thread_lane({0, 1}), i + 1);
    }
  check(0, "second copies of the same host events, left out: 80 (aten::mm)");
  EXPECT_EQ(trace_.ranges.size(), 40U);
  EXPECT_EQ(trace_.ranges.kind.size(), 40U);
  EXPECT_EQ(trace_.calls.size(), 40U);
}

TEST_F(ImplausibleRecordsTest, a_call_within_one_of_its_name_is_no_copy) {
  for (int i = 0; i < 40; ++i) operation(i * 100'000, 50'000, "aten::to");
  for (int i = 0; i < 10; ++i) operation(i * 100'000, 50'000, "aten::to");
  check(0, "");
  EXPECT_EQ(trace_.ranges.size(), 50U);
}

TEST_F(ImplausibleRecordsTest, work_far_from_all_else_with_no_host_near_it) {
  honest(0);
  call(2'000'000, 21);
  kernel(1'800'000'000'000, 90'000, "late", 21);
  check(20, "GPU work far from everything else, without host events near it, left out: 1 (late, 30 m 00 s away)");
  EXPECT_EQ(span(), 1'990'000);
  EXPECT_EQ(trace_.calls.correlation.back(), 0) << "its launch is no lost one";
}

TEST_F(ImplausibleRecordsTest, work_far_before_all_else_likewise) {
  honest(kToday);
  kernel(kToday - 60'000'000'000, 90'000, "early");
  check(20, "GPU work far from everything else, without host events near it, left out: 1 (early, 60.0 s away)");
}

TEST_F(ImplausibleRecordsTest, a_program_that_waits_has_events_where_it_goes_on) {
  honest(0);
  call(1'800'000'000'000, 21);
  kernel(1'800'000'010'000, 90'000, "late", 21);
  check(21, "");
}

TEST_F(ImplausibleRecordsTest, a_queue_is_longer_than_the_host_works) {
  honest(0);
  kernel(2'100'000, 30'000'000'000, "long");
  kernel(30'002'200'000, 30'000'000'000, "longer");
  check(22, "");
}

TEST_F(ImplausibleRecordsTest, a_record_that_lasts_hours_longer_than_all_else) {
  honest(0);
  operation(100'000, 36'000'000'000'000, "aten::huge");
  check(20, "records that last hours longer than everything else, left out: 1 (aten::huge, 10 h 00 m)");
  EXPECT_EQ(span(), 1'990'000);
}

TEST_F(ImplausibleRecordsTest, kernels_without_durations_give_no_advice) {
  for (int i = 0; i < 20; ++i) {
    call(i * 100'000, i + 1);
    kernel(i * 100'000 + 10'000, i < 16 ? 0 : 50'000, "gemm", i + 1);
  }
  leave_out_implausible(trace_);
  EXPECT_EQ(fakes::texts_of(trace_.notes), (std::vector<std::string>{"kernels that last 0 ns: 16 of 20",
                                                                     fakes::text_of(messages::lacks_durations())}));
  const AnalysedTrace analysed(trace_);
  const auto tables = tables_of(analysed);
  EXPECT_TRUE(find_savings(analysed, tables).empty());
  EXPECT_TRUE(tables.devices.at(0).idle.empty());
}

TEST_F(ImplausibleRecordsTest, a_clock_too_coarse_for_a_few_kernels) {
  honest(0);
  kernel(2'100'000, 0, "tiny");
  check(21,
        "kernels that last 0 ns: 1 of 21; they may have filled the idle time after them, so no cause of it is given");
  EXPECT_FALSE(trace_.lacks_work);
}

TEST_F(ImplausibleRecordsTest, a_single_kernel_without_a_duration_does_not_silence_the_others) {
  kernel(0, 0, "first");
  for (int i = 1; i < 10; ++i) kernel(i * 100'000, 90'000, "graph");
  leave_out_implausible(trace_);
  EXPECT_FALSE(trace_.lacks_work);
}

TEST_F(ImplausibleRecordsTest, a_few_kernels_without_durations_are_no_reason_for_a_cuda_graph) {
  for (int i = 0; i < 50; ++i) {
    call(i * 100'000, i + 1);
    kernel(i * 100'000 + 15'000, i % 13 == 0 ? 0 : 90'000, "gemm", i + 1);
  }
  leave_out_implausible(trace_);
  EXPECT_FALSE(trace_.lacks_work);
  const AnalysedTrace analysed(trace_);
  const auto tables = tables_of(analysed);
  EXPECT_TRUE(find_savings(analysed, tables).empty());
  for (const auto& idle : tables.devices.at(0).idle)
    EXPECT_TRUE(idle.cause != schema::IdleCause::launch || idle.gaps == 0) << idle.total_ns;
}

TEST_F(ImplausibleRecordsTest, neighbours_may_overlap_and_kernels_of_a_graph_run_beside_each_other) {
  for (int i = 0; i < 20; ++i) kernel(1'000 + i * 100, 130, "chain");
  for (int i = 0; i < 20; ++i)
    kernel(100'000 + i * 100, i == 0 ? 3'000 : 90, "node", 1, 7, 10 + static_cast<unsigned>(i));
  check(40, "");
}

TEST_F(ImplausibleRecordsTest, a_stream_whose_records_all_overlap_is_no_stream) {
  for (int i = 0; i < 20; ++i) {
    kernel(1'000 + i * 1'000, 900, "long");
    for (int k = 0; k < 4; ++k) kernel(1'100 + i * 1'000 + k * 100, 50, "short");
  }
  check(100, "");
}

TEST_F(ImplausibleRecordsTest, clocks_of_gpu_and_host_that_do_not_fit_tell_no_causes) {
  const auto fits = [&](std::int64_t shift) {
    trace_ = {};
    honest(kToday);
    for (auto& start : trace_.kernels.start_ns) start += shift;
    leave_out_implausible(trace_);
    EXPECT_EQ(trace_.kernels.size(), 20U);
    const AnalysedTrace analysed(trace_);
    bool all_unknown = true;
    for (const auto& gap : analysed.gaps) all_unknown &= gap.cause == schema::IdleCause::unknown;
    EXPECT_EQ(analysed.knows_idle_time(), !all_unknown);
    EXPECT_EQ(analysed.clocks.launched, 20U);
    return analysed.clocks.fits();
  };
  EXPECT_TRUE(fits(0));
  EXPECT_TRUE(fits(-50'000)) << "as near as profilers align them";
  EXPECT_TRUE(fits(900'000'000)) << "a host that is far ahead";
  EXPECT_FALSE(fits(-5'010'000));
  EXPECT_FALSE(fits(1'500'000'000));
}

}  // namespace
}  // namespace ridgeline::trace
