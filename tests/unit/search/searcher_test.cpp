// SPDX-License-Identifier: Apache-2.0
// What every strategy promises, over random spaces, costs, failures and noise.
#include "search/searcher.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/random.hpp"
#include "search/relevance.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;
using schema::Dimension;

const std::vector<Dimension> kAll{{"intra_op_num_threads", {1, 2, 4, 8}},
                                  {"parallel_sessions", {2, 4, 8}},
                                  {"batch_size", {2, 4, 8}},
                                  {"inter_op_num_threads", {2, 4}},
                                  {"execution_mode", {"parallel"}},
                                  {"graph_optimization_level", {"disable_all", "basic", "extended"}},
                                  {"intra_op_allow_spinning", {false}},
                                  {"intra_op_spin_duration_us", {500, 1000, 2000}},
                                  {"dynamic_block_base", {2, 4, 8}},
                                  {"set_denormal_as_zero", {true}},
                                  {"some_later_setting", {"a", "b"}}};

const std::vector<Dimension> kGpu{{"io_binding", {"pinned", "device", "stream"}},
                                  {"enable_cuda_graph", {true}},
                                  {"override_free_dimensions", {true}},
                                  {"use_ep_level_unified_stream", {true}},
                                  {"prefer_nhwc", {true}}};

SearchSpace random_space(base::Random& random) {
  std::vector<Dimension> dimensions;
  for (const auto& dimension : kAll)
    if (random.below(2) == 0) dimensions.push_back(dimension);
  if (random.below(3) == 0)
    for (const auto& dimension : kGpu)
      if (random.below(2) == 0) dimensions.push_back(dimension);
  std::vector<SpaceRule> rules;
  const auto salt = random.next();
  if (random.below(2) == 0)
    rules.push_back({"an arbitrary tenth is forbidden", [salt](const Configuration& configuration) {
                       return (std::hash<std::string>{}(configuration.canonical()) ^ salt) % 10 != 0;
                     }});
  Configuration fixed;
  if (random.below(3) == 0) fixed.set("disable_prepacking", true);
  return {std::move(dimensions), std::move(fixed), std::move(rules)};
}

Observation random_observation(base::Random& random) {
  Observation seen;
  if (random.below(5) == 0) return seen;
  seen.cost = std::exp(random.normal());
  seen.cost_low = *seen.cost * 0.99;
  seen.cost_high = *seen.cost * 1.01;
  seen.stopped_early = random.below(6) == 0;
  return seen;
}

std::vector<Proposal> run(const std::string& name, const SearchSpace& space, const SearcherOptions& options,
                          std::uint64_t seed) {
  const auto searcher = make_searcher(name, space, options);
  EXPECT_TRUE(searcher);
  base::Random random(seed);
  std::vector<Proposal> proposals;
  auto remaining = (*searcher)->remaining();
  while (auto proposal = (*searcher)->propose()) {
    EXPECT_GT(remaining, 0U) << name << ": a proposal after none were left";
    (*searcher)->observe(*proposal, random_observation(random));
    proposals.push_back(*proposal);
    remaining = (*searcher)->remaining();
    if (proposals.size() > 100'000) break;
  }
  EXPECT_FALSE((*searcher)->propose()) << name << ": goes on after the end";
  EXPECT_EQ((*searcher)->remaining(), 0U) << name;
  return proposals;
}

class EveryStrategy : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Searcher, EveryStrategy, testing::Values("adaptive", "quick", "random", "grid"),
                         [](const auto& named) { return std::string(named.param); });

TEST_P(EveryStrategy, proposes_allowed_canonical_configurations_once_and_ends) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    base::Random random(seed);
    const auto space = random_space(random);
    if (space.raw_size() > 1500) continue;
    SearcherOptions options;
    options.seed = seed;
    if (random.below(2) == 0) options.current = {{"intra_op_num_threads", 3}, {"execution_mode", "sequential"}};
    std::set<Configuration> seen;
    for (const auto& proposal : run(GetParam(), space, options, seed)) {
      EXPECT_TRUE(seen.insert(proposal.configuration).second) << proposal.configuration.to_text();
      EXPECT_FALSE(proposal.reason.empty());
      if (proposal.stage == schema::TrialStage::current) continue;
      EXPECT_TRUE(space.allows(proposal.configuration)) << proposal.configuration.to_text();
      EXPECT_EQ(space.canonical(proposal.configuration), proposal.configuration);
    }
  }
}

TEST_P(EveryStrategy, tries_the_default_then_what_the_user_has) {
  const SearchSpace space({kAll[0], kAll[5]}, {}, {});
  SearcherOptions options;
  options.current = {{"intra_op_num_threads", 7}, {"execution_mode", "sequential"}};
  const auto proposals = run(GetParam(), space, options, 1);
  ASSERT_GE(proposals.size(), 3U);
  EXPECT_EQ(proposals[0].configuration, Configuration{});
  EXPECT_EQ(proposals[0].stage, schema::TrialStage::baseline);
  EXPECT_EQ(proposals[1].configuration, (Configuration{{"intra_op_num_threads", 7}}));
  EXPECT_EQ(proposals[1].stage, schema::TrialStage::current);
}

TEST_P(EveryStrategy, the_same_seed_and_observations_give_the_same_proposals) {
  const SearchSpace space({kAll[0], kAll[1], kAll[5], kAll[8]}, {}, {});
  SearcherOptions options;
  options.seed = 11;
  const auto first = run(GetParam(), space, options, 5);
  const auto second = run(GetParam(), space, options, 5);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].configuration, second[i].configuration);
}

TEST_P(EveryStrategy, a_space_of_one_configuration_is_one_trial) {
  EXPECT_EQ(run(GetParam(), SearchSpace(), {}, 1).size(), 1U);
}

TEST_P(EveryStrategy, denormal_numbers_bring_their_setting_forward) {
  const SearchSpace space(kAll, {}, {});
  SearcherOptions options;
  options.current = Configuration{{"intra_op_num_threads", 2}};
  const std::string name = GetParam();
  for (const bool met : {true, false}) {
    const auto searcher = make_searcher(name == "grid" ? "quick" : name, space, options).value();
    std::vector<Configuration> tried;
    for (int at = 0; at < 4; ++at) {
      auto proposal = searcher->propose();
      ASSERT_TRUE(proposal);
      tried.push_back(proposal->configuration);
      Observation seen;
      const bool flushed = proposal->configuration.contains("set_denormal_as_zero");
      seen.met_denormals = met && !flushed;
      seen.cost = flushed ? 1 : 100;
      seen.cost_low = 0.99 * *seen.cost;
      seen.cost_high = 1.01 * *seen.cost;
      searcher->observe(*proposal, seen);
    }
    const Configuration flushed{{"set_denormal_as_zero", true}};
    EXPECT_EQ(tried[2] == flushed, met);
    const bool builds_on_it = met && (name == "adaptive" || name == "quick");
    EXPECT_TRUE(!builds_on_it || tried[3].contains("set_denormal_as_zero")) << "the next ones are tried on it";
  }
}

TEST(Searcher, grid_covers_everything) {
  const SearchSpace space({kAll[0], kAll[3], kAll[4], kAll[6]}, {}, {});
  const auto proposals = run("grid", space, {}, 1);
  std::set<Configuration> seen;
  for (const auto& proposal : proposals) {
    seen.insert(proposal.configuration);
    EXPECT_FALSE(proposal.stop_above) << "a grid is measured in full";
  }
  const auto all = space.enumerate(1'000'000);
  EXPECT_EQ(seen, std::set<Configuration>(all.begin(), all.end()));
}

TEST(Searcher, quick_is_about_a_dozen_trials_on_the_largest_space) {
  SearcherOptions options;
  options.current = {{"intra_op_num_threads", 3}};
  const auto proposals = run("quick", SearchSpace(kAll, {}, {}), options, 1);
  EXPECT_LE(proposals.size(), 13U);
  EXPECT_GE(proposals.size(), 10U);
}

TEST(Searcher, random_keeps_its_budget_and_depends_on_the_seed) {
  const SearchSpace space(kAll, {}, {});
  SearcherOptions options;
  options.random_budget = 25;
  const auto first = run("random", space, options, 1);
  EXPECT_EQ(first.size(), 25U);
  options.seed = 2;
  EXPECT_NE(run("random", space, options, 1).back().configuration, first.back().configuration);
}

TEST(Searcher, a_space_that_rarely_works_is_still_searched) {
  const SearchSpace space({kAll[0], kAll[5], kAll[9]}, {}, {});
  // Only two settings together work, so no change of the default alone does.
  const auto works = [](const Configuration& c) {
    return c.contains("set_denormal_as_zero") && c.contains("intra_op_num_threads");
  };
  const auto searcher = make_searcher("adaptive", space, {});
  bool found = false;
  while (auto proposal = (*searcher)->propose()) {
    Observation seen;
    if (works(proposal->configuration)) seen = {1000.0, 990, 1010, false};
    found = found || seen.cost;
    (*searcher)->observe(*proposal, seen);
  }
  EXPECT_TRUE(found);
}

TEST(Searcher, losers_may_be_stopped_only_above_the_best_interval) {
  const SearchSpace space({kAll[0], kAll[5], kAll[8]}, {}, {});
  const auto searcher = make_searcher("adaptive", space, {});
  double best_high = HUGE_VAL;
  double cost = 1000;
  while (auto proposal = (*searcher)->propose()) {
    if (proposal->stop_above) {
      EXPECT_GT(*proposal->stop_above, best_high);
    }
    (*searcher)->observe(*proposal, {cost, cost * 0.98, cost * 1.02, false});
    best_high = std::min(best_high, cost * 1.02);
    cost *= 0.999;
  }
}

/// A curve of throughput, latency and memory over the batch sizes has a point for each.
TEST(Searcher, every_batch_size_is_measured_in_full_once) {
  const SearchSpace space({{"batch_size", {1, 8, 64}}, {"prefer_nhwc", {true}}, {"use_tf32", {false}}}, {}, {});
  const auto searcher = make_searcher("adaptive", space, {});
  std::map<std::int64_t, int> in_full;
  std::map<std::int64_t, int> tried;
  while (auto proposal = (*searcher)->propose()) {
    const auto batch = proposal->configuration.get_or("batch_size", 1).as_integer(1);
    const double cost = batch == 64 ? 1000 : 5000 - static_cast<double>(batch);
    const bool stopped_early = proposal->stop_above && cost > *proposal->stop_above;
    ++tried[batch];
    in_full[batch] += stopped_early ? 0 : 1;
    Observation seen{cost, cost * 0.99, cost * 1.01};
    seen.stopped_early = stopped_early;
    (*searcher)->observe(*proposal, seen);
  }
  for (const auto& [batch, count] : tried) EXPECT_GE(in_full[batch], 1) << batch;
  EXPECT_EQ(tried.count(1) + tried.count(8) + tried.count(64), 3U);
}

/// What a configuration costs, the same whenever it is asked.
Observation fixed_observation(const Configuration& configuration) {
  base::Random random(std::hash<std::string>{}(configuration.canonical()));
  return random_observation(random);
}

std::vector<Configuration> run_side_by_side(const std::string& name, const SearchSpace& space,
                                            const SearcherOptions& options, std::size_t slots) {
  const auto searcher = make_searcher(name, space, options);
  EXPECT_TRUE(searcher);
  std::vector<Configuration> tried;
  while (auto proposal = (*searcher)->propose()) {
    std::vector<Proposal> batch{*proposal};
    while (batch.size() < slots) {
      auto beside = (*searcher)->propose_beside();
      if (!beside) break;
      batch.push_back(std::move(*beside));
    }
    for (const auto& one : batch) {
      tried.push_back(one.configuration);
      (*searcher)->observe(one, fixed_observation(one.configuration));
    }
  }
  return tried;
}

TEST_P(EveryStrategy, trials_side_by_side_are_those_that_come_one_after_another) {
  base::Random random(3);
  for (int repeat = 0; repeat < 40; ++repeat) {
    const auto space = random_space(random);
    if (space.raw_size() > 1500) continue;  // a grid visits all of it, four times
    SearcherOptions options;
    options.seed = random.next();
    options.current = {{"intra_op_num_threads", 3}};
    const auto serial = run_side_by_side(GetParam(), space, options, 1);
    for (const std::size_t slots : {2U, 3U, 8U}) EXPECT_EQ(run_side_by_side(GetParam(), space, options, slots), serial);
  }
}

TEST(Searcher, proposes_the_levels_of_one_factor_and_all_of_a_list_side_by_side) {
  const SearchSpace space({kAll[5]}, {}, {});
  for (const auto* name : {"adaptive", "grid", "random"}) {
    const auto searcher = make_searcher(name, space, {});
    auto proposal = (*searcher)->propose();
    (*searcher)->observe(*proposal, {1000.0, 990, 1010, false});
    proposal = (*searcher)->propose();
    ASSERT_TRUE(proposal) << name;
    std::size_t beside = 0;
    while ((*searcher)->propose_beside()) ++beside;
    EXPECT_EQ(beside, 2U) << name;
  }
}

TEST(Searcher, unknown_names_and_endless_grids_are_refused) {
  const auto unknown = make_searcher("adaptiv", SearchSpace(), {});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().hint.find("\"adaptive\""), std::string::npos) << unknown.error().hint;
  std::vector<Dimension> many;
  for (int i = 0; i < 30; ++i) many.push_back({"key" + std::to_string(i), {1}});
  const auto grid = make_searcher("grid", SearchSpace(many, {}, {}), {});
  ASSERT_FALSE(grid);
  EXPECT_NE(grid.error().hint.find("adaptive"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::search
