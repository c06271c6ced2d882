// SPDX-License-Identifier: Apache-2.0
#include "campaign/run_id.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"

namespace ridgeline::campaign {
namespace {

TEST(RunId, names_the_second_and_keeps_runs_of_one_second_apart) {
  const fakes::FakeClock clock;
  const auto one = make_run_id(clock, "2026-11-21T08:15:00Z", "ridgeline tune a.onnx");
  EXPECT_EQ(one.substr(0, 16), "20261121-081500-");
  EXPECT_EQ(one.size(), 20U);
  EXPECT_NE(one, make_run_id(clock, "2026-11-21T08:15:00Z", "ridgeline tune b.onnx"));
  clock.advance(base::Nanoseconds(1));
  EXPECT_NE(one, make_run_id(clock, "2026-11-21T08:15:00Z", "ridgeline tune a.onnx"));
}

}  // namespace
}  // namespace ridgeline::campaign
