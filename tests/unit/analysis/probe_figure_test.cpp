// SPDX-License-Identifier: Apache-2.0
#include "analysis/probe_figure.hpp"

#include <gtest/gtest.h>

namespace ridgeline::analysis {
namespace {

/// 1, 2 ... count ms.
schema::Measurement ramp(int count) {
  schema::Measurement measurement;
  for (int i = 1; i <= count; ++i) measurement.latency_ns.push_back(i * 1e6);
  return measurement;
}

TEST(ProbeFigure, latency_is_held_against_latency_by_the_median) {
  auto twice = ramp(101);
  for (double& latency : twice.latency_ns) latency *= 2;
  EXPECT_DOUBLE_EQ(*slow_down_ratio(figure_of(ramp(101)), figure_of(twice), schema::Objective::latency), 2);
}

TEST(ProbeFigure, a_tail_that_one_side_does_not_support_gives_way_to_a_lower_one) {
  const auto many = figure_of(ramp(2000));
  const auto few = figure_of(ramp(150));
  EXPECT_DOUBLE_EQ(figure_value(many, many, schema::Objective::p99), many.p99_ns);
  EXPECT_DOUBLE_EQ(figure_value(many, few, schema::Objective::p99), many.p90_ns);
  EXPECT_DOUBLE_EQ(*slow_down_ratio(many, few, schema::Objective::p99), few.p90_ns / many.p90_ns);
}

TEST(ProbeFigure, throughput_goes_by_time_an_item_where_both_know_it) {
  auto base = ramp(100);
  base.wall_ns = 100e6;
  auto slower = base;
  slower.wall_ns = 150e6;
  const auto objective = schema::Objective::throughput;
  EXPECT_DOUBLE_EQ(*slow_down_ratio(figure_of(base), figure_of(slower), objective), 1.5);
  EXPECT_DOUBLE_EQ(*slow_down_ratio(figure_of(base), figure_of(ramp(100)), objective), 1);
}

TEST(ProbeFigure, the_median_of_several_forgets_the_odd_one) {
  auto odd = figure_of(ramp(100));
  odd.median_ns *= 50;
  EXPECT_DOUBLE_EQ(median_figure({figure_of(ramp(100)), odd, figure_of(ramp(120))}).median_ns, 60.5e6);
  EXPECT_EQ(median_figure({figure_of(ramp(100)), figure_of(ramp(40))}).count, 40);
}

TEST(ProbeFigure, nothing_measured_gives_no_ratio) {
  const auto some = figure_of(ramp(10));
  EXPECT_FALSE(slow_down_ratio(some, figure_of({}), schema::Objective::latency));
  EXPECT_FALSE(slow_down_ratio(median_figure({}), some, schema::Objective::p99));
}

}  // namespace
}  // namespace ridgeline::analysis
