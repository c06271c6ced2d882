// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/counter_join.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {
namespace {

class CounterJoinTest : public ::testing::Test, public TraceBuilder {
 protected:
  void counted(std::string_view name, Dim3 grid = {1000, 1, 1}) {
    counters.name.push_back(counters.strings.id(name));
    counters.grid.push_back(grid);
    counters.block.push_back({128, 1, 1});
  }
  KernelCounters counters;
};

TEST(PlainKernelName, is_the_same_from_every_profiler) {
  const auto* kineto =
      "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail::Array<char*, 1> "
      ">(int, "
      "at::native::FillFunctor<float>, at::detail::Array<char*, 1>)";
  const auto* ncu =
      "void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>, at::detail::Array<char "
      "*, "
      "(int)1>>(int, T2, T3)";
  EXPECT_EQ(plain_kernel_name(kineto), plain_kernel_name(ncu));
  EXPECT_EQ(plain_kernel_name("f<(bool)1, (unsigned int)64>(const T1 *)"),
            plain_kernel_name("void f<true, 64u>(float const*)"));
  EXPECT_EQ(plain_kernel_name("void <unnamed>::g<4>(int)"), plain_kernel_name("void (anonymous namespace)::g<4>(int)"));
  EXPECT_EQ(plain_kernel_name("ampere_sgemm_128x64_nn"), "ampere_sgemm_128x64_nn");
  EXPECT_NE(plain_kernel_name("f<4>(int)"), plain_kernel_name("f<8>(int)"));
  EXPECT_EQ(plain_kernel_name("conv1x1u"), "conv1x1u") << "no number of a template";
}

TEST_F(CounterJoinTest, equals_are_joined_in_their_order) {
  // The file has them in another order than they began.
  kernel("void f<4>(int)", 300, 310, 0);
  kernel("void f<4>(int)", 100, 110, 0);
  kernel("void f<4>(int)", 200, 210, 0, 7, {5, 1, 1});
  counted("f<(int)4>(int)");
  counted("f<(int)4>(int)", {5, 1, 1});
  counted("f<(int)4>(int)");
  const auto join = join_counters(trace, counters);
  EXPECT_EQ(join.row, (std::vector<Place>{2, 0, 1}));
  EXPECT_EQ(join.matched, 3U);
  EXPECT_TRUE(join.only_counters.empty());
  EXPECT_TRUE(join.only_trace.empty());
}

TEST_F(CounterJoinTest, one_step_of_several_repeats) {
  for (std::int64_t i = 0; i < 6; ++i) kernel("f", 100 * i, 100 * i + 50, 0);
  counted("f");
  counted("f");
  EXPECT_EQ(join_counters(trace, counters).row, (std::vector<Place>{0, 1, 0, 1, 0, 1}));
}

TEST_F(CounterJoinTest, what_only_one_has_is_listed) {
  for (std::int64_t i = 0; i < 3; ++i) kernel("f", 100 * i, 100 * i + 50, 0);
  kernel("g", 1000, 1100, 0);
  counted("f");
  counted("f");
  counted("h");
  const auto join = join_counters(trace, counters);
  EXPECT_EQ(join.row, (std::vector<Place>{0, 1, kNowhere, kNowhere}));
  EXPECT_EQ(join.only_counters, (std::vector<std::string>{"1 x h, grid (1000, 1, 1), block (128, 1, 1)"}));
  EXPECT_EQ(join.only_trace.size(), 2U) << "the third f, and g";
}

TEST_F(CounterJoinTest, waves_are_those_of_the_launch) {
  kernel("f", 100, 150, 0);
  kernel("g", 200, 250, 0);
  counted("f");
  EXPECT_TRUE(std::isnan(launch_waves(counters, join_counters(trace, counters))[0])) << "no such counter";
  counters.metrics.push_back({"launch__waves_per_multiprocessor", "", {1.5}});
  const auto waves = launch_waves(counters, join_counters(trace, counters));
  EXPECT_EQ(waves[0], 1.5);
  EXPECT_TRUE(std::isnan(waves[1]));
}

}  // namespace
}  // namespace ridgeline::trace
