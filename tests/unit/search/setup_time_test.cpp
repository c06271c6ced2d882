// SPDX-License-Identifier: Apache-2.0
// Searches build on what is quick to set up, where that costs nothing.
#include <gtest/gtest.h>

#include "search/search_history.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;

const SearchSpace kSpace{{{"io_binding", {"stream"}},
                          {"enable_cuda_graph", {true}},
                          {"cudnn_conv_algo_search", {"HEURISTIC"}},
                          {"prefer_nhwc", {true}},
                          {"fuse_conv_bias", {true}},
                          {"graph_optimization_level", {"extended"}}},
                         {},
                         {}};

Observation seen(double cost, double setup_s) {
  Observation observation;
  observation.cost = observation.cost_low = observation.cost_high = cost;
  observation.setup_s = setup_s;
  return observation;
}

class Incumbent : public ::testing::Test {
 protected:
  void record(const Configuration& configuration, const Observation& observation) {
    const auto proposal = history_.offer(configuration, schema::TrialStage::screening, {});
    ASSERT_TRUE(proposal);
    history_.record(*proposal, observation);
  }
  const Configuration nhwc_{{"prefer_nhwc", true}};
  const Configuration heuristic_{{"cudnn_conv_algo_search", "HEURISTIC"}};
  SearchHistory history_{kSpace};
};

TEST_F(Incumbent, a_tie_that_is_quick_to_set_up_comes_before_the_best) {
  record(nhwc_, seen(533, 1.9));
  record(heuristic_, seen(536, 0.1));
  EXPECT_EQ(history_.incumbent(0.01)->configuration, heuristic_);
  EXPECT_EQ(history_.best()->configuration, nhwc_);
}

TEST_F(Incumbent, a_slower_configuration_never_does) {
  record(nhwc_, seen(533, 1.9));
  record(heuristic_, seen(550, 0.1));
  EXPECT_EQ(history_.incumbent(0.01)->configuration, nhwc_);
}

TEST_F(Incumbent, a_saving_of_milliseconds_does_not_move_it) {
  record(nhwc_, seen(533, 0.25));
  record(heuristic_, seen(534, 0.05));
  EXPECT_EQ(history_.incumbent(0.01)->configuration, nhwc_);
}

TEST_F(Incumbent, a_tie_that_is_slow_to_set_up_is_told_from_a_gain_and_from_what_is_quick) {
  record(heuristic_, seen(536, 0.1));
  record(nhwc_, seen(533, 1.9));
  EXPECT_TRUE(history_.is_slow_tie(nhwc_, 0.01));
  EXPECT_FALSE(history_.is_slow_tie(heuristic_, 0.01));
  EXPECT_FALSE(history_.is_slow_tie({{"fuse_conv_bias", true}}, 0.01));  // never seen
  const auto gain = nhwc_.with("fuse_conv_bias", true);
  record(gain, seen(500, 1.9));
  EXPECT_FALSE(history_.is_slow_tie(gain, 0.01));
}

TEST_F(Incumbent, what_was_stopped_early_does_not_count) {
  record(nhwc_, seen(533, 1.9));
  auto quick = seen(534, 0.1);
  quick.stopped_early = true;
  record(heuristic_, quick);
  EXPECT_EQ(history_.incumbent(0.01)->configuration, nhwc_);
}

/// As MobileNetV3 on an H200: cuDNN's exhaustive search takes 1.9 s in the channels-last layout and gains nothing.
double setup_of(const Configuration& configuration) {
  if (configuration.contains("cudnn_conv_algo_search")) return 0.1;
  return configuration.contains("prefer_nhwc") ? 1.9 : 0.4;
}

TEST(SetupTime, a_search_does_not_pay_again_and_again_for_an_exhaustive_convolution_search) {
  // The refinement of adaptive may look whether another setting changes the picture.
  const std::vector<std::pair<const char*, int>> limits{{"quick", 1}, {"adaptive", 3}};
  for (const auto& [name, limit] : limits) {
    const auto searcher = make_searcher(name, kSpace, {}).value();
    int expensive = 0;
    while (const auto proposal = searcher->propose()) {
      const auto& configuration = proposal->configuration;
      const double cost = (configuration.contains("enable_cuda_graph") ? 553 : 900) *
                          (configuration.contains("prefer_nhwc") ? 0.965 : 1) *
                          (configuration.contains("cudnn_conv_algo_search") ? 1.003 : 1);
      if (setup_of(configuration) > 1) ++expensive;
      searcher->observe(*proposal, seen(cost, setup_of(configuration)));
    }
    EXPECT_LE(expensive, limit) << name;
  }
}

// MobileNetV3-L on an H200: the fused biases turned back made one session of 4.1 s, and ten seconds became 10.3.
TEST(SetupTime, a_quick_search_does_not_turn_back_what_makes_a_layout_quick_to_set_up) {
  const SearchSpace space(kSpace.dimensions(), {},
                          {{"fuse_conv_bias needs prefer_nhwc",
                            [](const Configuration& configuration) {
                              return !configuration.contains("fuse_conv_bias") || configuration.contains("prefer_nhwc");
                            },
                            {"fuse_conv_bias", "prefer_nhwc"}}});
  const auto searcher = make_searcher("quick", space, {}).value();
  int trials = 0;
  while (const auto proposal = searcher->propose()) {
    const auto& configuration = proposal->configuration;
    const bool slow = configuration.contains("prefer_nhwc") && !configuration.contains("fuse_conv_bias");
    EXPECT_FALSE(slow) << configuration.to_text();
    searcher->observe(*proposal, seen(configuration.contains("enable_cuda_graph") ? 544 : 1730, slow ? 4 : 0.2));
    ++trials;
  }
  EXPECT_GE(trials, 4);
}

}  // namespace
}  // namespace ridgeline::search
