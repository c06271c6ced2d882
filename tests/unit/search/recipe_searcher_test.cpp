// SPDX-License-Identifier: Apache-2.0
#include "search/recipe_searcher.hpp"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "schema/catalog.hpp"
#include "schema/execution_provider.hpp"
#include "search/space_builder.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;

class RecipeSearcherTest : public testing::Test {
 protected:
  RecipeSearcherTest() {
    environment_.gpus.emplace_back();
    runtime_.name = schema::torch_providers().back().engine;
    runtime_.version = "2.11.0";
    for (const auto& row : schema::torch_providers()) runtime_.providers.push_back(row.library_name);
  }

  SearchSpace space(bool on_gpu) {
    const auto& row = on_gpu ? schema::torch_providers().back() : schema::torch_providers().front();
    provider_ = row.id;
    const SpaceInput input{provider_, schema::Objective::latency, environment_, model_, runtime_, request_};
    auto built = build_space(input);
    EXPECT_TRUE(built.has_value());
    return std::move(built->space);
  }

  /// What was proposed, with what it is thought to take.
  template <typename Cost>
  std::vector<Configuration> run(const SearchSpace& space, const std::string& name, Cost cost) {
    auto searcher = make_searcher(name, space, {});
    std::vector<Configuration> seen;
    while (auto proposal = (*searcher)->propose()) {
      seen.push_back(proposal->configuration);
      EXPECT_TRUE(space.allows(proposal->configuration)) << proposal->configuration.to_text();
      Observation observation;
      observation.cost = cost(proposal->configuration);
      observation.cost_low = observation.cost_high = observation.cost.value_or(0);
      (*searcher)->observe(*proposal, observation);
    }
    return seen;
  }

  schema::Environment environment_;
  schema::ModelDescription model_;
  schema::RuntimeIdentity runtime_;
  SpaceRequest request_;
  std::string provider_;
};

std::optional<double> of_table(const Configuration& c) {
  double cost = c.get_or("torch_compile", "off").as_text() == "off" ? 6 : 3;
  if (c.get_or("cuda_graph", false).as_bool() || c.get_or("torch_compile", "off").as_text() == "reduce-overhead")
    cost /= 4;
  if (c.get_or("allow_tf32", false).as_bool()) cost *= 0.7;
  if (c.get_or("channels_last", false).as_bool()) cost *= 1.1;
  return cost;
}

TEST_F(RecipeSearcherTest, StrongSettingsOfGpusAreTogetherAfterAFewTrials) {
  const auto seen = run(space(true), "adaptive", of_table);
  ASSERT_GE(seen.size(), 4U);
  EXPECT_EQ(seen.front(), Configuration{});
  const auto& fourth = seen[3];
  EXPECT_EQ(fourth.get_or("torch_compile", "off").as_text(), "default") << fourth.to_text();
  EXPECT_TRUE(fourth.get_or("cuda_graph", false).as_bool());
  EXPECT_TRUE(fourth.get_or("allow_tf32", false).as_bool());
  EXPECT_FALSE(fourth.contains("channels_last")) << "it was slower";
}

TEST_F(RecipeSearcherTest, WhatDoesNotRunIsNotBuiltUpon) {
  const auto seen = run(space(true), "quick", [](const Configuration& c) {
    return c.get_or("allow_tf32", false).as_bool() ? std::nullopt : of_table(c);
  });
  std::size_t without = 0;
  for (const auto& one : seen) without += one.get_or("allow_tf32", false).as_bool() ? 0 : 1;
  EXPECT_EQ(without + 2, seen.size()) << "once with a CUDA graph and once without";
  EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), [](const auto& one) {
    return one.contains("torch_compile") && one.get_or("cuda_graph", false).as_bool();
  }));
}

TEST_F(RecipeSearcherTest, WhereNoGraphCanBeCapturedTheRestIsTriedWithout) {
  const auto seen = run(space(true), "quick", [](const Configuration& c) {
    return c.get_or("cuda_graph", false).as_bool() ? std::nullopt : of_table(c);
  });
  EXPECT_FALSE(seen[2].contains("cuda_graph")) << seen[2].to_text();
  EXPECT_TRUE(seen[2].get_or("allow_tf32", false).as_bool());
  EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), [](const auto& one) {
    return one.get_or("compile_freezing", false).as_bool() && one.get_or("allow_tf32", false).as_bool();
  }));
}

TEST_F(RecipeSearcherTest, CompleteRecipesAreForeseenBeforeAnythingRan) {
  const auto gpu = space(true);
  auto searcher = make_searcher("adaptive", gpu, {});
  const auto foreseen = (*searcher)->foreseen();
  ASSERT_GE(foreseen.size(), 4U);
  std::vector<Configuration> seen;
  std::size_t announced = 0;  // before it was proposed, of those that follow the recipes
  std::vector<Configuration> next;
  while (auto proposal = (*searcher)->propose()) {
    if (seen.size() > foreseen.size())
      announced += std::count(next.begin(), next.end(), proposal->configuration) == 1 ? 1 : 0;
    seen.push_back(proposal->configuration);
    Observation observation;
    observation.cost = of_table(proposal->configuration);
    observation.cost_low = observation.cost_high = *observation.cost;
    (*searcher)->observe(*proposal, observation);
    next = (*searcher)->foreseen();
    for (const auto& one : next) EXPECT_EQ(std::count(seen.begin(), seen.end(), one), 0) << one.to_text();
  }
  EXPECT_TRUE(std::equal(foreseen.begin(), foreseen.end(), seen.begin())) << "in this order";
  EXPECT_GT(announced, (seen.size() - foreseen.size()) / 2) << "and most of what goes from the best";
  EXPECT_TRUE((*searcher)->foreseen().empty());
}

// Compiling takes half a minute, in the background: what needs none is tried meanwhile.
TEST_F(RecipeSearcherTest, CompleteRecipesMayComeInTheOrderInWhichTheyAreReady) {
  const auto gpu = space(true);
  const auto searcher = make_searcher("adaptive", gpu, {});
  std::vector<Configuration> seen;
  const auto next = [&] {
    const auto proposal = (*searcher)->propose();
    seen.push_back(proposal->configuration);
    Observation observation;
    observation.cost = of_table(seen.back());
    observation.cost_low = observation.cost_high = *observation.cost;
    (*searcher)->observe(*proposal, observation);
  };
  EXPECT_TRUE((*searcher)->in_any_order().empty()) << "the defaults come first";
  next();
  EXPECT_TRUE((*searcher)->in_any_order().empty()) << "then the recipe that says what runs here";
  next();
  const auto choice = (*searcher)->in_any_order();
  ASSERT_GE(choice.size(), 3U);
  (*searcher)->prefer({choice[2], choice[1]});
  next();
  next();
  next();
  EXPECT_EQ(std::vector(seen.begin() + 2, seen.end()), (std::vector{choice[1], choice[2], choice[0]}));
}

TEST_F(RecipeSearcherTest, AModelWithoutFourDimensionsIsNotLaidOutOtherwise) {
  const auto lays_out = [&](std::optional<bool> four_dimensional) {
    model_.four_dimensional = four_dimensional;
    const auto seen = run(space(true), "adaptive", of_table);
    return std::any_of(seen.begin(), seen.end(), [](const auto& one) { return one.contains("channels_last"); });
  };
  EXPECT_FALSE(lays_out(false));
  EXPECT_TRUE(lays_out(true));
  EXPECT_TRUE(lays_out(std::nullopt)) << "described by an older version";
}

TEST_F(RecipeSearcherTest, NothingThatNeedsAGpuIsTriedOnACpu) {
  for (const auto& one : run(space(false), "adaptive", of_table)) {
    EXPECT_FALSE(one.contains("cuda_graph")) << one.to_text();
    EXPECT_NE(one.get_or("torch_compile", "off").as_text(), "reduce-overhead") << one.to_text();
  }
}

TEST_F(RecipeSearcherTest, ShapesThatVaryAreCompiledOneByOneToo) {
  model_.shapes = {{{"x", {1, 3}}}, {{"x", {1, 5}}}};
  const auto seen = run(space(false), "quick", of_table);
  EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), [](const auto& one) {
    return one.contains("torch_compile") && one.get_or("compile_dynamic", true) == schema::Value(false);
  }));
  EXPECT_TRUE(std::none_of(seen.begin(), seen.end(), [](const auto& one) {
    return one.contains("compile_dynamic") && !one.contains("torch_compile");
  }));
}

TEST_F(RecipeSearcherTest, OldTorchIsTracedInPlaceOfCompiled) {
  runtime_.version = "1.13.1";
  const auto seen = run(space(false), "adaptive", of_table);
  EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), [](const auto& one) { return one.contains("torchscript"); }));
  EXPECT_TRUE(std::none_of(seen.begin(), seen.end(), [](const auto& one) { return one.contains("torch_compile"); }));
}

}  // namespace
}  // namespace ridgeline::search
