// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/observed_time.hpp"

#include "unit/trace/planted_trace.hpp"

namespace ridgeline::trace {
namespace {

/// Shares and savings are of the time of the steps, or of all that was observed, not of the GPU's first to last work.
class ObservedTimeTest : public PlantedTrace {
 protected:
  [[nodiscard]] schema::ProfileDevice device() const {
    const AnalysedTrace analysed(trace);
    const auto tables = tables_of(analysed);
    EXPECT_EQ(tables.devices.size(), 1U);
    std::int64_t idle_ns = 0;
    for (const auto& row : tables.devices.front().idle) idle_ns += row.total_ns;
    EXPECT_EQ(idle_ns, tables.devices.front().span_ns - tables.devices.front().busy_ns) << "idle time is what is left";
    return tables.devices.front();
  }
  static constexpr std::int64_t kMs = 1'000'000;
};

/// 218 ms of preprocessing, 160 ms of which the GPU works 158, and 5 ms until the step ends.
TEST_F(ObservedTimeTest, preprocessing_before_the_first_kernel_is_a_part_of_the_step) {
  trace.devices.push_back({0, "NVIDIA A100", 108, "8.0"});
  annotation("ProfilerStep#3", 0, 383 * kMs);
  range(RangeKind::python, "infer.py(7): preprocess", 0, 218 * kMs);
  launch("ampere_sgemm_128x64_nn", 218 * kMs, 218 * kMs + 10'000, 390 * kMs - 13 * kMs);
  EXPECT_EQ(device().span_ns, 383 * kMs);
  EXPECT_EQ(device().busy_ns, 377 * kMs - 218 * kMs - 10'000);
  const auto* finding = find("fp32-gemm");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(finding->saving_share, 158.99 * 0.8 / 383, 1e-9) << "four fifths of it, of the step";
  finding = find("host-work");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->evidence.front(), "218 ms before the first work")
      << "6 ms behind it are of the step, of which no event says what it did";
  EXPECT_EQ(finding->evidence.at(1), "218 ms before the first work due to infer.py(7): preprocess");
  EXPECT_EQ(finding->module, "infer.py(7): preprocess");
}

/// A step that the recorder counted bytes in, between two that it recorded.
TEST_F(ObservedTimeTest, what_was_not_recorded_is_neither_busy_nor_idle) {
  constexpr std::int64_t kStep = 10 * kMs;
  for (const std::int64_t step : {0, 5}) {
    annotation("ProfilerStep#" + std::to_string(step + 1), step * kStep, (step + 1) * kStep, 0);
    operation("aten::item", step * kStep + 8 * kMs, step * kStep + 9 * kMs);
    launch("k", step * kStep + kMs, step * kStep + 2 * kMs, step * kStep + 9 * kMs);
  }
  EXPECT_EQ(device().span_ns, 6 * kStep);
  range(RangeKind::overhead, kRecordingPaused, kStep, 5 * kStep, -1);
  EXPECT_EQ(device().span_ns, 2 * kStep);
  EXPECT_EQ(device().busy_ns, 14 * kMs);
  const AnalysedTrace analysed(trace);
  ASSERT_EQ(analysed.gaps.size(), 4U);
  EXPECT_EQ(analysed.gaps[1].end_ns, kStep);
  EXPECT_EQ(analysed.gaps[2].start_ns, 5 * kStep);
  EXPECT_EQ(analysed.gaps[2].cause, schema::IdleCause::host_unrecorded) << "2 ms without an event";
  EXPECT_EQ(analysed.gaps[3].place, GapPlace::behind_work);
}

TEST_F(ObservedTimeTest, work_that_goes_on_into_a_pause_is_busy) {
  launch("k", 0, 1000, 10'000);
  launch("k", 60'000, 61'000, 70'000);
  range(RangeKind::overhead, kRecordingPaused, 5000, 50'000, -1);
  EXPECT_EQ(device().span_ns, 30'000);
  EXPECT_EQ(device().busy_ns, 18'000);
  range(RangeKind::overhead, kRecordingPaused, 45'000, 60'500, -1);
  EXPECT_EQ(device().span_ns, 30'000 - 10'500);
  range(RangeKind::overhead, kRecordingPaused, 65'000, 900'000, -1);
  EXPECT_EQ(device().span_ns, 30'000 - 10'500) << "ends with its work";
}

TEST_F(ObservedTimeTest, one_short_kernel_of_a_long_program_saves_nothing) {
  trace.devices.push_back({0, "NVIDIA H100", 132, "9.0"});
  range(RangeKind::python, "serve.py(3): main", 0, 13'300 * kMs);
  launch("fill", 6000 * kMs, 6000 * kMs + 5000, 6000 * kMs + 6760);
  trace.kernels.grid.front() = {1, 1, 1};
  EXPECT_EQ(device().span_ns, 13'300 * kMs);
  EXPECT_EQ(find("few-blocks"), nullptr) << "99 % of 1.76 us";
  const auto* finding = find("host-work");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saving_ns, 1760) << "the host cannot do more beside it";
}

TEST_F(ObservedTimeTest, other_threads_and_the_profiler_widen_nothing) {
  launch("k", 0, 5000, 10'000);
  range(RangeKind::overhead, "Activity Buffer Request", -50'000, -10'000);
  range(RangeKind::python, "loader.py(9): worker", -80'000, 90'000, 2);
  operation("aten::add", -1'700'000'000 * std::int64_t{1'000'000'000}, -5);  // a time of 0 among times of day
  EXPECT_EQ(device().span_ns, 10'000) << "from the launch to the end of its kernel";
}

TEST_F(ObservedTimeTest, work_outside_of_the_steps_counts) {
  launch("warm", -20'000, -10'000, -5000);
  for (std::int64_t i = 0; i < 3; ++i) {
    annotation("step " + std::to_string(i), 10'000 * i, 10'000 * i + 9000);
    launch("k", 10'000 * i, 10'000 * i + 2000, 10'000 * i + 12'000);
  }
  EXPECT_EQ(device().span_ns, 32'000 + 10'000);
}

}  // namespace
}  // namespace ridgeline::trace
