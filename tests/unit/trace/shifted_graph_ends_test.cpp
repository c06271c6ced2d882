// SPDX-License-Identifier: Apache-2.0
#include "trace/import/shifted_graph_ends.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "fakes/temporary_folder.hpp"
#include "fakes/words.hpp"
#include "trace/import/implausible_records.hpp"
#include "trace/record/recording.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kKernels = 10;
constexpr std::int64_t kLaunches = 5;
constexpr std::int64_t kPeriod = 1'000'000;  // ns between launches

class ShiftedGraphEndsTest : public ::testing::Test {
 protected:
  /// Kernel i takes 2 us and i times 0.5 us; `changed` says how long one of a launch takes instead.
  template <typename Changed>
  void record(Changed changed) {
    for (std::int64_t launch = 0; launch < kLaunches; ++launch)
      for (std::int64_t i = 0; i < kKernels; ++i) {
        auto& kernels = trace_.kernels;
        kernels.add(launch * kPeriod + i * 10'000, changed(launch, i, usual(i)), trace_.strings.id("gemm"),
                    trace_.gpu_lane({1, 0, 1, 7}), launch + 1);
        kernels.grid.emplace_back();
        kernels.block.emplace_back();
        kernels.registers.push_back(0);
        kernels.shared_bytes.push_back(0);
        kernels.graph_node.push_back(static_cast<std::uint64_t>(i) + 100);
      }
  }
  [[nodiscard]] static std::int64_t usual(std::int64_t i) { return 2'000 + i * 500; }
  [[nodiscard]] std::int64_t duration(std::int64_t launch, std::int64_t i) const {
    return trace_.kernels.duration_ns[static_cast<std::size_t>(launch * kKernels + i)];
  }

  Trace trace_;
};

TEST_F(ShiftedGraphEndsTest, what_all_kernels_of_a_launch_have_too_much_is_subtracted) {
  record([](auto launch, auto i, auto usual) { return launch == 4 ? usual + 2'937'000 + i % 3 * 20 : usual; });
  leave_out_implausible(trace_);
  ASSERT_EQ(trace_.kernels.size(), 50U);
  for (std::int64_t i = 0; i < kKernels; ++i) EXPECT_NEAR(duration(4, i), usual(i), 50) << i;
  ASSERT_EQ(trace_.notes.size(), 1U);
  EXPECT_EQ(
      fakes::text_of(trace_.notes[0]),
      "ends of 10 kernels in CUDA graphs were recorded up to 2.94 ms late, all of a launch by the same time, which "
      "is subtracted");
}

TEST_F(ShiftedGraphEndsTest, a_launch_that_is_slow_as_a_whole_stays) {
  record([](auto launch, auto, auto usual) { return launch == 4 ? usual * 300 : usual; });
  correct_shifted_graph_ends(trace_);
  EXPECT_EQ(duration(4, 9), usual(9) * 300);
  EXPECT_TRUE(trace_.notes.empty());
}

TEST_F(ShiftedGraphEndsTest, one_slow_kernel_stays) {
  record([](auto launch, auto i, auto usual) { return launch == 4 && i == 3 ? usual + 3'000'000 : usual; });
  correct_shifted_graph_ends(trace_);
  EXPECT_EQ(duration(4, 3), usual(3) + 3'000'000);
  EXPECT_TRUE(trace_.notes.empty());
}

TEST_F(ShiftedGraphEndsTest, two_launches_do_not_show_which_is_right) {
  record([](auto launch, auto, auto usual) { return launch >= 2 ? usual + 3'000'000 : usual; });
  auto& kernels = trace_.kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i) kernels.graph_node[i] += 1'000 * (i / kKernels / 2);
  correct_shifted_graph_ends(trace_);
  EXPECT_EQ(duration(2, 0), usual(0) + 3'000'000);
  EXPECT_TRUE(trace_.notes.empty());
}

/// Recorded on an H200 with CUPTI 13.0: ten replays of a graph of 80 kernels of up to 44 us, the last of which end 2.9
/// ms late.
TEST(ShiftedGraphEnds, of_a_real_recording_are_corrected) {
  const fakes::TemporaryFolder folder;
  std::filesystem::copy_file(std::string(RL_TEST_DATA) + "/traces/graph_ends_late.rltrace",
                             folder.path() / "7.rltrace");
  const auto recording = read_recording(folder.path());
  ASSERT_TRUE(recording);
  const auto& durations = recording->trace.kernels.duration_ns;
  ASSERT_EQ(durations.size(), 810U);
  EXPECT_LT(*std::max_element(durations.begin(), durations.end()), 50'000);
  ASSERT_FALSE(recording->trace.notes.empty());
  EXPECT_EQ(fakes::text_of(recording->trace.notes[0]).find("ends of 80 kernels in CUDA graphs"), 0U);
}

}  // namespace
}  // namespace ridgeline::trace
