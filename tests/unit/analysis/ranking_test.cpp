// SPDX-License-Identifier: Apache-2.0
#include "analysis/ranking.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/constraint_check.hpp"
#include "fakes/words.hpp"
#include "stats/quantile.hpp"
#include "tune_run_builder.hpp"

namespace ridgeline::analysis {
namespace {

using schema::Configuration;
using schema::StopReason;

std::vector<int> ids(const std::vector<RankedTrial>& ranking) {
  std::vector<int> result;
  for (const auto& ranked : ranking) result.push_back(ranked.trial->id);
  return result;
}

std::vector<int> groups(const std::vector<RankedTrial>& ranking) {
  std::vector<int> result;
  for (const auto& ranked : ranking) result.push_back(ranked.rank);
  return result;
}

TEST(Rank, orders_by_cost_and_groups_what_cannot_be_told_apart) {
  TuneRunBuilder builder;
  builder.add({}, 1e6);
  builder.add({{"intra_op_num_threads", 4}}, 0.5e6);
  builder.add({{"intra_op_num_threads", 3}}, 0.505e6);
  builder.add({{"intra_op_num_threads", 2}}, 0.7e6);
  const auto ranking = rank(builder.run, builder.outcomes);
  EXPECT_EQ(ids(ranking), (std::vector{2, 3, 4, 1}));
  EXPECT_EQ(groups(ranking), (std::vector{1, 1, 2, 3}));
}

TEST(Rank, ties_overlapping_intervals_even_beyond_the_minimum_effect) {
  TuneRunBuilder builder;
  builder.add({}, 1e6, 0.5, 20);
  builder.add({{"batch_size", 2}}, 1.1e6, 0.5, 20);
  EXPECT_EQ(groups(rank(builder.run, builder.outcomes)), (std::vector{1, 1}));
}

// [32, 174] ms of a corrected time led trials of [54, 58].
TEST(Rank, what_may_be_anything_leads_nothing) {
  TuneRunBuilder builder;
  builder.add({}, 57e6, 0.001);
  builder.add({{"intra_op_num_threads", 2}}, 60e6, 0.001);
  builder.add({{"intra_op_num_threads", 3}}, 50e6, 0.001);
  builder.add({{"intra_op_num_threads", 4}}, 80e6, 0.001);
  builder.run.trials[2].corrected = schema::CorrectedCost{{46.6e6, 32e6, 174e6}, false};
  auto ranking = rank(builder.run, builder.outcomes);
  EXPECT_EQ(ids(ranking), (std::vector{1, 2, 4, 3}));
  EXPECT_DOUBLE_EQ(ranking.back().measured.value, ranking.back().summary.median_ns)
      << "a trial's number is as measured";
  // A leader that is less sure than what follows ties with that, and not with all that its interval reaches.
  builder.run.trials[2].corrected = schema::CorrectedCost{{55e6, 45e6, 85e6}, false};
  ranking = rank(builder.run, builder.outcomes);
  EXPECT_EQ(ids(ranking), (std::vector{3, 1, 2, 4}));
  EXPECT_EQ(groups(ranking), (std::vector{1, 1, 2, 3}));
}

TEST(Rank, leaves_out_failures_error_flags_and_repeated_keys) {
  TuneRunBuilder builder;
  builder.add({}, 1e6);
  builder.add_failed({{"batch_size", 2}}, schema::TrialStatus::crashed, "killed by signal 11");
  builder.add({{"batch_size", 4}}, 1e6).flags.push_back({schema::FlagLevel::error, "clock_broken", fakes::legacy("")});
  builder.add({{"batch_size", 8}}, 1e6)
      .flags.push_back({schema::FlagLevel::data_loss, "few_samples", fakes::legacy("")});
  builder.run.trials.push_back(builder.run.trials.front());
  builder.run.trials.back().id = 5;
  builder.run.trials.push_back({.id = 6, .key = "never measured"});
  EXPECT_EQ(rank(builder.run, builder.outcomes).size(), 2U);
}

TEST(Rank, puts_constraint_breakers_last_and_says_why) {
  TuneRunBuilder builder;
  builder.run.request.constraints = {{"latency_p99_ms", true, 20}};
  builder.add({{"batch_size", 8}}, 23e6, 0);
  builder.add({}, 25e6, 0).latency_ns.assign(2000, 10e6);
  builder.add({{"batch_size", 2}}, 12e6, 0);
  const auto ranking = rank(builder.run, builder.outcomes);
  EXPECT_EQ(ids(ranking), (std::vector{2, 3, 1}));
  EXPECT_EQ(fakes::text_of(ranking.back().broken_constraint), "latency_p99_ms 23 > 20");
  EXPECT_FALSE(ranking.back().meets_constraints);
  EXPECT_EQ(groups(ranking), (std::vector{1, 2, 3}));
}

TEST(Rank, gives_no_first_group_when_nothing_meets_the_constraints) {
  TuneRunBuilder builder;
  builder.run.request.constraints = {{"peak_rss_mb", true, 50}};
  builder.add({}, 1e6);
  const auto ranking = rank(builder.run, builder.outcomes);
  EXPECT_EQ(groups(ranking), (std::vector{2}));
  EXPECT_EQ(simplest_of_best(ranking, {}), nullptr);
  EXPECT_TRUE(pareto_front(ranking).empty());
}

TEST(Rank, decides_a_tail_constraint_from_few_samples_by_the_binomial_bound) {
  TuneRunBuilder builder;
  builder.run.request.constraints = {{"latency_p99_ms", true, 20}};
  builder.add({}, 10e6, 0, 299);                   // 0 of 299 beyond: 0.99^299 < 5 %
  builder.add({{"batch_size", 2}}, 10e6, 0, 200);  // 0 of 200: could still be 1.4 %
  auto& slow = builder.add({{"batch_size", 4}}, 10e6, 0, 200);
  for (std::size_t i = 0; i < 8; ++i) slow.latency_ns[i] = 30e6;
  const auto ranking = rank(builder.run, builder.outcomes);
  ASSERT_EQ(ids(ranking), (std::vector{1, 2, 3}));
  EXPECT_TRUE(ranking[0].meets_constraints);
  EXPECT_EQ(fakes::text_of(ranking[1].broken_constraint),
            "latency_p99_ms undecided: 0 of 200 samples above 20 ms, 1000 samples would decide");
  EXPECT_EQ(fakes::text_of(ranking[2].broken_constraint), "latency_p99_ms<=20: 8 of 200 samples above 20 ms");
}

TEST(Rank, decides_a_percentile_constraint_by_the_samples_wanted_for_it_whatever_some_slow_ones_do) {
  for (const auto* metric : {"latency_p90_ms", "latency_p95_ms"}) {
    TuneRunBuilder builder;
    builder.run.request.constraints = {{metric, true, 20}};
    const auto count = static_cast<std::size_t>(samples_wanted(builder.run.request.constraints.front()));
    for (const int slow : {0, 2, 30}) {
      auto& trial = builder.add({{"batch_size", slow + 1}}, 10e6, 0, count);
      std::fill_n(trial.latency_ns.begin(), slow, 30e6);
    }
    const auto ranking = rank(builder.run, builder.outcomes);
    ASSERT_EQ(ids(ranking), (std::vector{1, 2, 3}));
    EXPECT_TRUE(ranking[0].meets_constraints) << fakes::text_of(ranking[0].broken_constraint);
    EXPECT_TRUE(ranking[1].meets_constraints) << fakes::text_of(ranking[1].broken_constraint);
    EXPECT_EQ(fakes::text_of(ranking[2].broken_constraint), fmt::format("{} 30 > 20", metric));
  }
}

TEST(SamplesWanted, is_of_percentiles_only) {
  EXPECT_EQ(samples_wanted({"latency_p90_ms", true, 20}), stats::samples_needed(0.9));
  EXPECT_EQ(samples_wanted({"latency_p95_ms", true, 20}), stats::samples_needed(0.95));
  EXPECT_EQ(samples_wanted({"latency_p99_ms", true, 20}), 300);
  EXPECT_EQ(samples_wanted({"latency_median_ms", true, 20}), 0);
  EXPECT_EQ(samples_wanted({"throughput_per_s", false, 20}), 0);
}

TEST(Rank, checks_lower_bounds_too) {
  TuneRunBuilder builder;
  builder.run.request.constraints = {{"throughput_per_s", false, 500}};
  builder.add({}, 1e6, 0);
  builder.add({{"batch_size", 2}}, 4e6, 0);
  const auto ranking = rank(builder.run, builder.outcomes);
  EXPECT_TRUE(ranking[0].meets_constraints);
  EXPECT_EQ(fakes::text_of(ranking[1].broken_constraint), "throughput_per_s 250 < 500");
}

TEST(Rank, lists_trials_stopped_early_after_full_ones_of_their_group) {
  TuneRunBuilder builder;
  builder.add({}, 1e6);
  builder.add({{"batch_size", 2}}, 2.0e6).stop_reason = StopReason::stopped_early;
  builder.add({{"batch_size", 3}}, 2.01e6);
  const auto ranking = rank(builder.run, builder.outcomes);
  EXPECT_EQ(ids(ranking), (std::vector{1, 3, 2}));
  EXPECT_EQ(groups(ranking), (std::vector{1, 2, 2}));
}

TEST(Rank, follows_the_objective) {
  TuneRunBuilder builder;
  builder.add({{"batch_size", 8}}, 4e6).items_per_inference = 8;
  builder.add({}, 1e6);
  EXPECT_EQ(ids(rank(builder.run, builder.outcomes)), (std::vector{2, 1}));
  builder.run.request.objective = schema::Objective::throughput;
  EXPECT_EQ(ids(rank(builder.run, builder.outcomes)), (std::vector{1, 2}));
}

TEST(SimplestOfBest, prefers_closest_to_current_then_fewest_settings_then_memory) {
  TuneRunBuilder builder;
  builder.add({{"intra_op_num_threads", 4}, {"dynamic_block_base", 4}}, 1.000e6);
  builder.add({{"intra_op_num_threads", 4}}, 1.005e6);
  builder.add({{"dynamic_block_base", 8}}, 1.006e6).peak_rss_bytes = 50'000'000;
  const auto ranking = rank(builder.run, builder.outcomes);
  const auto pick = [&](const Configuration& current) { return simplest_of_best(ranking, current)->trial->id; };
  EXPECT_EQ(pick({{"intra_op_num_threads", 4}, {"dynamic_block_base", 4}}), 1);
  EXPECT_EQ(pick({{"intra_op_num_threads", 4}}), 2);
  EXPECT_EQ(pick({}), 3);  // 2 and 3 are one setting away; 3 needs less memory
}

TEST(SimplestOfBest, takes_an_explicit_default_for_unset_and_skips_those_stopped_early) {
  TuneRunBuilder builder;
  builder.add({{"batch_size", 2}}, 1e6);
  builder.add({}, 1e6);
  builder.add({{"execution_mode", "sequential"}}, 1e6).stop_reason = StopReason::stopped_early;
  const auto ranking = rank(builder.run, builder.outcomes);
  EXPECT_EQ(simplest_of_best(ranking, {{"execution_mode", "sequential"}})->trial->id, 2);
}

TEST(ParetoFront, keeps_only_what_nothing_beats_in_both) {
  TuneRunBuilder builder;
  builder.add({}, 1e6, 0);                                             // 1 ms, 1000/s
  builder.add({{"batch_size", 4}}, 2e6, 0).items_per_inference = 4;    // 2 ms, 2000/s
  builder.add({{"batch_size", 3}}, 3e6, 0).items_per_inference = 3;    // 3 ms, 1000/s: dominated
  builder.add({{"batch_size", 16}}, 5e6, 0).items_per_inference = 16;  // 5 ms, 3200/s
  builder.add({{"dynamic_block_base", 2}}, 1e6, 0);                    // equal to the first
  EXPECT_EQ(pareto_front(rank(builder.run, builder.outcomes)), (std::vector{1, 2, 4}));
}

TEST(AccuracyFault, names_the_output_the_error_and_the_tolerance) {
  schema::OutputError output_error;
  output_error.scaled_max_abs = 3.1e-2;
  output_error.worst_output = "x";
  EXPECT_EQ(fakes::text_of(accuracy_fault(output_error, 1e-3).value()),
            "out of tolerance: scaled error 0.031 in output \"x\", allowed 0.001");
  EXPECT_EQ(accuracy_fault(output_error, 3.1e-2), std::nullopt);
  output_error.scaled_max_abs = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(accuracy_fault(output_error, 1).has_value());
}

TEST(AccuracyFault, rejects_new_nans_and_other_shapes_but_not_nans_of_the_reference) {
  schema::OutputError output_error;
  output_error.elements = 10;
  output_error.nonfinite = 3;
  EXPECT_EQ(accuracy_fault(output_error, 1e-3), std::nullopt);
  output_error.nan_mismatches = 3;
  EXPECT_TRUE(accuracy_fault(output_error, 1e-3).has_value());
  output_error.nan_mismatches = 0;
  output_error.shape_mismatch = true;
  EXPECT_TRUE(accuracy_fault(output_error, 1e-3).has_value());
}

TEST(DefaultTolerance, follows_the_coarsest_type_and_the_noise) {
  schema::ModelDescription model;
  model.outputs = {{.name = "y", .element_type = "float"}};
  EXPECT_DOUBLE_EQ(default_tolerance(model, 0), 1e-3);
  EXPECT_DOUBLE_EQ(default_tolerance(model, 5e-4), 5e-3);
  model.parameters = 100;
  model.parameter_types = {{"float16", 100}};
  EXPECT_DOUBLE_EQ(default_tolerance(model, 0), 1e-2);
  model.outputs = {{.name = "y", .element_type = "bfloat16"}};
  EXPECT_DOUBLE_EQ(default_tolerance(model, 0), 5e-2);
  model.outputs = {{.name = "labels", .element_type = "int64"}};
  EXPECT_DOUBLE_EQ(default_tolerance(model, 0), 1e-3);
  model.outputs = {{.name = "y", .element_type = "double"}};
  model.parameter_types.clear();
  EXPECT_DOUBLE_EQ(default_tolerance(model, 0), 1e-6);
}

TEST(DefaultTolerance, of_labels_masks_and_text_is_a_small_share_and_never_no_check) {
  schema::ModelDescription model;
  for (const auto* type : {"int64", "uint8", "bool", "string"}) {
    model.outputs = {{.name = "labels", .element_type = type}};
    EXPECT_DOUBLE_EQ(default_tolerance(model, 0), 1e-3) << type;
    EXPECT_DOUBLE_EQ(default_tolerance(model, 5e-4), 5e-3) << type;
  }
  // Beside real outputs theirs counts, which is no looser for the labels.
  model.outputs.push_back({.name = "scores", .element_type = "double"});
  EXPECT_DOUBLE_EQ(default_tolerance(model, 0), 1e-6);
}

}  // namespace
}  // namespace ridgeline::analysis
