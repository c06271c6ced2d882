// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/program_place.hpp"

#include <gtest/gtest.h>

#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {
namespace {

class ProgramPlaceTest : public ::testing::Test, public TraceBuilder {};

TEST_F(ProgramPlaceTest, the_line_is_that_of_the_user) {
  range(RangeKind::python, "/home/me/torch/train.py(41): step", 0, 100'000);
  range(RangeKind::python, "torch/nn/modules/linear.py(114): forward", 100, 90'000);
  range(RangeKind::python, "/opt/torch/lib/python3.12/site-packages/torch/nn/functional.py(9): linear", 150, 85'000);
  module("Linear_0", 200, 80'000);
  const auto launched = call("cudaLaunchKernel", 300, 400, 1);
  const auto outside = call("cudaLaunchKernel", 200'000, 200'400, 2);
  const AnalysedTrace analysed(trace);
  EXPECT_EQ(place_of_call(analysed, launched), "/home/me/torch/train.py(41): step");
  EXPECT_EQ(place_of_call(analysed, outside), "");
  EXPECT_EQ(place_of_call(analysed, kNowhere), "");
  EXPECT_EQ(place_of_range(analysed, kNowhere), "");
}

TEST_F(ProgramPlaceTest, without_lines_it_is_the_module) {
  module("Net_0", 0, 100'000);
  module("Linear_0", 200, 80'000);
  const auto item = operation("aten::item", 300, 400);
  const auto launched = call("cudaLaunchKernel", 500, 600, 1);
  const AnalysedTrace analysed(trace);
  EXPECT_EQ(place_of_call(analysed, launched), "Net_0/Linear_0");
  EXPECT_EQ(place_of_range(analysed, item), "Net_0/Linear_0/aten::item");
}

}  // namespace
}  // namespace ridgeline::trace
