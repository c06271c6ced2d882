// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/profiler_cost.hpp"

#include <gtest/gtest.h>

namespace ridgeline::campaign {
namespace {

/// Rounds of three calls each; the profiler takes 40 ns of 10 nodes, the machine is twice as slow in some of the
/// rounds.
struct Profiled {
  explicit Profiled(const std::vector<double>& slowness, double own_ns = 40) {
    model.rounds.resize(slowness.size());
    for (std::size_t i = 0; i < slowness.size(); ++i) {
      for (const double jitter : {0.0, 1.0, 50.0}) {
        model.rounds[i].plain_ns.push_back(100 * slowness[i] + jitter);
        model.rounds[i].traced_ns.push_back((100 + own_ns) * slowness[i] + jitter);
        tables.steps.emplace_back().work_ns = static_cast<std::int64_t>(100 * slowness[i] + jitter);
      }
    }
  }
  schema::ProfiledModel model;
  schema::ProfileTables tables;
};

TEST(ProfilerCost, is_what_calls_take_longer_with_it) {
  const Profiled steady({1, 1, 1, 1});
  EXPECT_DOUBLE_EQ(own_cost_ns(steady.model), 40);
  const auto cost = profiler_cost({steady.model}, {steady.tables}, 10, true);
  EXPECT_DOUBLE_EQ(cost.plain_ns, 101);
  EXPECT_DOUBLE_EQ(cost.traced_ns, 141);
  EXPECT_DOUBLE_EQ(cost.nodes_ns, 141);
  EXPECT_DOUBLE_EQ(cost.events, 10);
  EXPECT_DOUBLE_EQ(cost.event_ns, 4);
}

// The two latencies come from rounds that the cost does not know, so that one is a check of the other.
TEST(ProfilerCost, is_not_made_of_the_latencies_that_it_explains) {
  const Profiled uneven({1, 2, 1, 2, 1, 2});
  EXPECT_DOUBLE_EQ(own_cost_ns(uneven.model), 40);
  const auto cost = profiler_cost({uneven.model}, {uneven.tables}, 10, true);
  EXPECT_DOUBLE_EQ(cost.plain_ns, 201);
  EXPECT_DOUBLE_EQ(cost.traced_ns, 281);
  EXPECT_DOUBLE_EQ(cost.nodes_ns, 241);
}

// Medians over all calls would be those of either state of the machine, as it came.
TEST(ProfilerCost, a_machine_of_two_speeds_has_the_same_mixture_in_both) {
  const Profiled mixed({1, 1, 2, 2, 1, 1, 1, 2, 2, 1});
  const auto cost = profiler_cost({mixed.model}, {mixed.tables}, 10, true);
  EXPECT_DOUBLE_EQ(cost.traced_ns - cost.plain_ns, cost.plain_ns * 0.4 - 0.4);
}

TEST(ProfilerCost, is_not_shown_where_chance_may_have_made_it) {
  Profiled noisy({1, 1, 1.3, 1, 0.8, 1}, 0.2);
  for (std::size_t i = 0; i < noisy.model.rounds.size(); i += 2)
    for (auto& call : noisy.model.rounds[i].traced_ns) call += i == 2 ? -10 : 8;
  EXPECT_EQ(own_cost_ns(noisy.model), 0);
  EXPECT_EQ(own_cost_ns({}), 0);
  EXPECT_EQ(profiler_cost({noisy.model}, {noisy.tables}, 0, true).event_ns, 0);
}

TEST(ProfilerCost, of_launches_nothing_is_taken_off) {
  const Profiled launches({1, 1, 1, 1});
  EXPECT_EQ(profiler_cost({launches.model}, {launches.tables}, 10, false).event_ns, 0);
}

TEST(ProfilerCost, means_over_processes) {
  const Profiled fast({1, 1});
  const Profiled slow({2, 2});
  const auto cost = profiler_cost({fast.model, slow.model}, {fast.tables, slow.tables}, 10, true);
  EXPECT_DOUBLE_EQ(cost.plain_ns, 151);
  EXPECT_DOUBLE_EQ(cost.own_ns(), 60);
}

}  // namespace
}  // namespace ridgeline::campaign
