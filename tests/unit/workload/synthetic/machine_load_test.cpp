// SPDX-License-Identifier: Apache-2.0
#include "workload/synthetic/machine_load.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include <gtest/gtest.h>

namespace ridgeline::workload {
namespace {

using namespace std::chrono_literals;

MachineLoad load_of(const std::string& text, schema::Configuration configuration = {}, std::uint64_t seed = 1) {
  return MachineLoad(parse_synthetic_options(text).value(), configuration, seed);
}

TEST(MachineLoad, drift_swings_around_one) {
  auto load = load_of("drift=20%,drift_period=20s");
  EXPECT_DOUBLE_EQ(load.factor(0s), 1);
  EXPECT_NEAR(load.factor(5s), 1.2, 1e-9);
  EXPECT_NEAR(load.factor(15s), 0.8, 1e-9);
}

TEST(MachineLoad, a_step_holds_from_its_begin_to_its_end) {
  auto load = load_of("step=2x@60s..120s");
  EXPECT_DOUBLE_EQ(load.factor(59900ms), 1);
  EXPECT_DOUBLE_EQ(load.factor(60s), 2);
  EXPECT_DOUBLE_EQ(load.factor(119999ms), 2);
  EXPECT_DOUBLE_EQ(load.factor(120s), 1);
}

TEST(MachineLoad, bursts_take_their_share_of_the_time_in_pieces_of_their_mean_length) {
  auto load = load_of("bursts=2x,duty=30%,mean=5s");
  constexpr int kSteps = 2'000'000;  // of 10 ms
  int on = 0;
  int begun = 0;
  double before = 1;
  for (int step = 0; step < kSteps; ++step) {
    const double factor = load.factor(step * 10ms);
    ASSERT_TRUE(factor == 1 || factor == 2);
    if (factor == 2) ++on;
    if (factor == 2 && before == 1) ++begun;
    before = factor;
  }
  EXPECT_NEAR(static_cast<double>(on) / kSteps, 0.3, 0.02);
  EXPECT_NEAR(on * 0.01 / begun, 5, 0.4);
}

TEST(MachineLoad, the_history_does_not_depend_on_who_asks_or_in_which_order) {
  auto forward = load_of("bursts=3x,duty=50%,mean=1s");
  auto backward = load_of("bursts=3x,duty=50%,mean=1s");
  std::vector<double> seen;
  for (int at = 0; at < 200; ++at) seen.push_back(forward.factor(at * 1s));
  for (int at = 199; at >= 0; --at) EXPECT_EQ(backward.factor(at * 1s), seen[static_cast<std::size_t>(at)]) << at;
  auto other = load_of("bursts=3x,duty=50%,mean=1s", {}, 2);
  int differs = 0;
  for (int at = 0; at < 200; ++at) differs += other.factor(at * 1s) != seen[static_cast<std::size_t>(at)] ? 1 : 0;
  EXPECT_GT(differs, 50);
}

TEST(MachineLoad, a_neighbour_may_hurt_some_configurations_only) {
  const std::string text =
      "bursts=2x if intra_op_num_threads=2,duty=50%,mean=1s,step=3x@0s..1s if intra_op_num_threads=1";
  auto two = load_of(text, {{"intra_op_num_threads", 2}});
  auto one = load_of(text, {{"intra_op_num_threads", 1}});
  int hit = 0;
  for (int at = 0; at < 1000; ++at) hit += two.factor(at * 100ms) == 2 ? 1 : 0;
  EXPECT_GT(hit, 200);
  EXPECT_DOUBLE_EQ(one.factor(500ms), 3);
  for (int at = 0; at < 1000; ++at) EXPECT_DOUBLE_EQ(one.factor(1s + at * 100ms), 1);
}

TEST(MachineLoad, an_absent_core_slows_what_keeps_more_busy_than_are_left) {
  const std::string text = "cores=4,absent_cores=2,duty=50%,mean=1s";
  const auto most = [&](const schema::Configuration& configuration) {
    auto load = load_of(text, configuration);
    double found = 0;
    for (int at = 0; at < 1000; ++at) {
      const double factor = load.factor(at * 100ms);
      EXPECT_TRUE(factor == 1 || factor == found || found <= 1) << factor;
      found = std::max(found, factor);
    }
    return found;
  };
  EXPECT_DOUBLE_EQ(most({{"intra_op_num_threads", 1}}), 1);
  EXPECT_DOUBLE_EQ(most({{"intra_op_num_threads", 2}}), 1);
  EXPECT_DOUBLE_EQ(most({{"intra_op_num_threads", 3}}), 1.5);
  EXPECT_DOUBLE_EQ(most({{"intra_op_num_threads", 4}}), 2);
  EXPECT_DOUBLE_EQ(most({{"intra_op_num_threads", 8}}), 2);
  EXPECT_DOUBLE_EQ(most({}), 2) << "all cores by default";
  EXPECT_DOUBLE_EQ(most({{"intra_op_num_threads", 1}, {"parallel_sessions", 4}}), 2);
}

TEST(MachineLoad, the_words_after_bursts_belong_to_the_bursts_before_them) {
  const auto options =
      parse_synthetic_options("bursts=2x,duty=10%,bursts=4x,mean=2s if intra_op_num_threads=2").value();
  ASSERT_EQ(options.bursts.size(), 2U);
  EXPECT_DOUBLE_EQ(options.bursts[0].duty, 0.1);
  EXPECT_EQ(options.bursts[0].mean, std::chrono::seconds(5));
  EXPECT_TRUE(options.bursts[0].when.empty());
  EXPECT_DOUBLE_EQ(options.bursts[1].duty, 0.3);
  EXPECT_EQ(options.bursts[1].mean, std::chrono::seconds(2));
  EXPECT_EQ(options.bursts[1].when.size(), 1U);
}

TEST(MachineLoad, what_cannot_be_read_says_what_was_expected) {
  const auto message = [](const std::string& text) { return parse_synthetic_options(text).error().message; };
  EXPECT_NE(message("step=2x").find("expected step=2x@60s..120s"), std::string::npos);
  EXPECT_NE(message("step=2@1s..2s").find("as in step=2x"), std::string::npos);
  EXPECT_NE(message("step=2x@2s..1s").find("ends before it begins"), std::string::npos);
  EXPECT_NE(message("bursts=two").find("as in bursts=2x"), std::string::npos);
  EXPECT_NE(message("duty=30%").find("no bursts or absent_cores before it"), std::string::npos);
  EXPECT_NE(message("bursts=2x,duty=0%").find("outside 0.1%..99.9%"), std::string::npos);
  EXPECT_NE(message("absent_cores=2,cores=2").find("leaves none of cores=2"), std::string::npos);
  EXPECT_NE(message("absent_cores=0").find("outside 1..1023"), std::string::npos);
  EXPECT_NE(message("bursts=2x,mean=1us").find("shorter than 100us"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::workload
