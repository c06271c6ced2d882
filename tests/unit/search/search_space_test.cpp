// SPDX-License-Identifier: Apache-2.0
#include "search/search_space.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ridgeline::search {
namespace {

using schema::Configuration;
using schema::Dimension;

const std::vector<Dimension> kDimensions{{"intra_op_num_threads", {1, 2, 4}},
                                         {"inter_op_num_threads", {2}},
                                         {"execution_mode", {"sequential", "parallel"}},
                                         {"intra_op_allow_spinning", {true, false}},
                                         {"intra_op_spin_duration_us", {500, 1000}}};

TEST(SearchSpace, a_value_equal_to_the_default_is_left_unset) {
  const SearchSpace space(kDimensions, {}, {});
  EXPECT_EQ(space.canonical({{"execution_mode", "sequential"}, {"intra_op_num_threads", 0}}), Configuration{});
  EXPECT_EQ(space.dimension("execution_mode")->values, std::vector<schema::Value>{"parallel"});
  EXPECT_DOUBLE_EQ(space.raw_size(), 4 * 2 * 2 * 2 * 3);
}

TEST(SearchSpace, settings_without_effect_beside_the_others_are_dropped) {
  const SearchSpace space(kDimensions, {}, {});
  EXPECT_EQ(space.canonical({{"inter_op_num_threads", 2}}), Configuration{});
  EXPECT_EQ(space.canonical({{"intra_op_allow_spinning", false}, {"intra_op_spin_duration_us", 500}}),
            (Configuration{{"intra_op_allow_spinning", false}}));
  // One thread has no workers, hence no spinning, hence no duration.
  EXPECT_EQ(space.canonical(
                {{"intra_op_num_threads", 1}, {"intra_op_allow_spinning", false}, {"intra_op_spin_duration_us", 500}}),
            (Configuration{{"intra_op_num_threads", 1}}));
  const Configuration kept{{"execution_mode", "parallel"}, {"inter_op_num_threads", 2}};
  EXPECT_EQ(space.canonical(kept), kept);
}

TEST(SearchSpace, enumerates_each_canonical_configuration_once_with_the_default_first) {
  const SearchSpace space(kDimensions, {}, {});
  const auto all = space.enumerate(10'000);
  // threads 1: no spin keys (1); others: default spin, two durations, no spinning (4); times sequential, parallel,
  // parallel+inter.
  EXPECT_EQ(all.size(), (1 + 3 * 4) * 3U);
  EXPECT_EQ(all.front(), Configuration{});
  EXPECT_EQ(std::set<Configuration>(all.begin(), all.end()).size(), all.size());
  for (const auto& configuration : all) EXPECT_EQ(space.canonical(configuration), configuration);
  EXPECT_EQ(space.enumerate(5).size(), 5U);
}

TEST(SearchSpace, rules_cut_enumeration_and_samples_alike) {
  const SpaceRule rule{"two threads", [](const Configuration& configuration) {
                         return configuration.get_or("intra_op_num_threads", 0).as_integer() == 2;
                       }};
  const SearchSpace space(kDimensions, {}, {rule});
  EXPECT_EQ(space.enumerate(1000).size(), 4 * 3U);
  base::Random random(3);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(space.allows(space.sample(random)));
  EXPECT_FALSE(space.allows({}));
}

TEST(SearchSpace, fixed_keys_are_in_every_configuration_and_no_dimension) {
  const SearchSpace space(kDimensions, {{"inter_op_num_threads", 2}, {"intra_op_num_threads", 4}}, {});
  EXPECT_EQ(space.dimension("intra_op_num_threads"), nullptr);
  for (const auto& configuration : space.enumerate(1000)) {
    EXPECT_EQ(configuration.get_or("intra_op_num_threads", 0), schema::Value(4));
    // The fixed inter-op count shows only where the mode gives it a meaning.
    EXPECT_EQ(configuration.contains("inter_op_num_threads"), configuration.contains("execution_mode"));
  }
  EXPECT_FALSE(space.allows({{"intra_op_num_threads", 2}}));
  EXPECT_FALSE(space.allows({}));
}

TEST(SearchSpace, samples_reach_the_whole_space) {
  const SearchSpace space(kDimensions, {}, {});
  base::Random random(1);
  std::set<Configuration> seen;
  for (int i = 0; i < 5000; ++i) seen.insert(space.sample(random));
  EXPECT_EQ(seen.size(), space.enumerate(1000).size());
}

TEST(SearchSpace, a_space_without_dimensions_is_the_default_alone) {
  const SearchSpace space;
  EXPECT_EQ(space.enumerate(10), std::vector<Configuration>{Configuration{}});
  EXPECT_DOUBLE_EQ(space.raw_size(), 1);
}

}  // namespace
}  // namespace ridgeline::search
