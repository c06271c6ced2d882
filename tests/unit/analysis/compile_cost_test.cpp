// SPDX-License-Identifier: Apache-2.0
#include "analysis/compile_cost.hpp"

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "tune_run_builder.hpp"

namespace ridgeline::analysis {
namespace {

class CompileCostTest : public ::testing::Test {
 protected:
  CompileCostTest() { builder_.add({}, 10e6, 0.001); }
  void add(schema::Configuration configuration, double median_ns, double compile_s, bool cold) {
    auto& measured = builder_.add(std::move(configuration), median_ns, 0.001);
    measured.metrics["compile_s"] = compile_s;
    if (cold) measured.flags.push_back({schema::FlagLevel::info, std::string(schema::kColdCompile), fakes::legacy("")});
  }
  std::optional<CompileCost> cost(int winner) {
    auto& verdict = builder_.run.verdict.emplace();
    verdict.decision = schema::Decision::change;
    verdict.trial_id = winner;
    verdict.configuration = builder_.run.trials[static_cast<std::size_t>(winner) - 1].configuration;
    return compile_cost(builder_.run, builder_.outcomes, rank(builder_.run, builder_.outcomes));
  }
  TuneRunBuilder builder_;
};

TEST_F(CompileCostTest, is_paid_back_by_the_time_that_each_call_saves) {
  add({{"torch_compile", "default"}}, 6e6, 40, true);
  const auto found = cost(2);
  ASSERT_TRUE(found && found->pays_after_calls);
  EXPECT_EQ(found->seconds, 40);
  EXPECT_FALSE(found->from_warm_cache);
  EXPECT_NEAR(*found->pays_after_calls, 10000, 50);
}

TEST_F(CompileCostTest, takes_the_gain_of_the_comparison_where_there_is_one) {
  add({{"torch_compile", "default"}}, 6e6, 40, true);
  static_cast<void>(cost(2));
  builder_.run.verdict->gain = schema::Comparison{.ratio = 2};
  const auto found = compile_cost(builder_.run, builder_.outcomes, rank(builder_.run, builder_.outcomes));
  EXPECT_NEAR(*found->pays_after_calls, 8000, 50);
}

TEST_F(CompileCostTest, of_what_found_its_kernels_in_the_cache_is_that_of_the_trial_that_filled_it) {
  add({{"torch_compile", "default"}}, 6e6, 40, true);
  add({{"cuda_graph", true}, {"torch_compile", "default"}}, 4e6, 3, false);
  EXPECT_EQ(cost(3)->seconds, 40);
  EXPECT_FALSE(cost(3)->from_warm_cache);
  add({{"torch_compile", "max-autotune"}}, 3e6, 90, false);
  EXPECT_EQ(cost(4)->seconds, 90);
}

TEST_F(CompileCostTest, of_a_warm_cache_is_said_to_be) {
  add({{"torch_compile", "max-autotune"}}, 3e6, 90, true);
  add({{"torch_compile", "default"}}, 2e6, 3, false);
  const auto found = cost(3);
  EXPECT_EQ(found->seconds, 3) << "the other one did more than this would";
  EXPECT_TRUE(found->from_warm_cache);
}

TEST_F(CompileCostTest, of_a_capture_or_a_trace_knows_no_cache) {
  add({{"torch_compile", "default"}}, 6e6, 40, true);
  add({{"cuda_graph", true}}, 5e6, 0.5, false);
  EXPECT_EQ(cost(3)->seconds, 0.5);
  EXPECT_FALSE(cost(3)->from_warm_cache);
  EXPECT_NEAR(*cost(3)->pays_after_calls, 100, 1);
}

TEST_F(CompileCostTest, there_is_none_where_nothing_is_compiled) {
  builder_.add({{"grad_mode", "inference_mode"}}, 9e6, 0.001);
  EXPECT_FALSE(cost(2));
  add({{"torch_compile", "default"}}, 6e6, 40, true);
  EXPECT_TRUE(cost(3));
  builder_.run.verdict->decision = schema::Decision::keep;
  EXPECT_FALSE(compile_cost(builder_.run, builder_.outcomes, rank(builder_.run, builder_.outcomes)));
}

TEST_F(CompileCostTest, what_the_current_configuration_costs_is_no_part_of_it) {
  builder_ = {};
  builder_.run.current = {{"torch_compile", "default"}};
  add({{"torch_compile", "default"}}, 10e6, 40, true);
  add({{"torch_compile", "max-autotune"}}, 8e6, 100, false);
  EXPECT_NEAR(*cost(2)->pays_after_calls, 30000, 500);
}

}  // namespace
}  // namespace ridgeline::analysis
