// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/tune_campaign.hpp"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "campaign/tune/compare_runs.hpp"
#include "campaign/tune/recommendation.hpp"
#include "fakes/stored_results.hpp"
#include "fakes/tune_campaign_fixture.hpp"
#include "fakes/words.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;
using schema::Value;

Configuration to_write(const schema::TuneRun& run) { return settings_to_write(run, run.current); }

using TuneCampaignTest = fakes::TuneCampaignFixture;

TEST_F(TuneCampaignTest, looks_at_the_graphs_of_the_current_and_of_the_fastest_configuration) {
  request_.space.values = {{"graph_optimization_level", {"basic", "disable_all"}}};
  executor_.cost_ns = [](const Configuration& c) {
    return c.get_or("graph_optimization_level", "all") == Value("basic") ? 1e6 : 2e6;
  };
  executor_.graph = [](const schema::TrialSpec& spec) -> base::Result<schema::RuntimeGraph> {
    return schema::RuntimeGraph{schema::graph_level(spec.configuration), 12, 1e6, ""};
  };
  const auto graphs = must_run().run.runtime_graphs;
  ASSERT_EQ(graphs.size(), 2U);
  EXPECT_EQ(graphs[0].level, "extended");
  EXPECT_EQ(graphs[1].level, "basic");
  EXPECT_EQ(graphs[1].nodes, 12);
  EXPECT_EQ(load_stored(*store_, store_->list_runs(1).value().front().id).value().run.runtime_graphs.size(), 2U);
}

TEST_F(TuneCampaignTest, says_what_its_time_went_to) {
  const auto run = must_run().run;
  ASSERT_TRUE(run.time_spent);
  const auto& spent = *run.time_spent;
  for (const double part_s : {spent.preparation_s, spent.trials_s, spent.comparisons_s, spent.answer_s})
    EXPECT_GT(part_s, 0);
  EXPECT_NEAR(spent.preparation_s + spent.trials_s + spent.comparisons_s + spent.answer_s, run.duration_s,
              0.1 * run.duration_s);
  const auto again = must_run().run;
  EXPECT_FALSE(again.time_spent) << "it was answered from the results file";
}

TEST_F(TuneCampaignTest, looks_at_the_graph_of_settings_that_are_not_the_defaults) {
  request_.current = {{"graph_optimization_level", "disable_all"}};
  request_.space.values = {{"graph_optimization_level", {"basic"}}};  // so that the defaults come first
  executor_.graph = [](const schema::TrialSpec& spec) -> base::Result<schema::RuntimeGraph> {
    return schema::RuntimeGraph{schema::graph_level(spec.configuration), 12, 1e6, ""};
  };
  const auto graphs = must_run().run.runtime_graphs;
  ASSERT_FALSE(graphs.empty());
  EXPECT_EQ(graphs[0].level, "disable_all");
}

TEST_F(TuneCampaignTest, a_graph_that_cannot_be_read_is_noted_and_one_that_does_not_exist_is_not) {
  executor_.graph = [](const schema::TrialSpec&) -> base::Result<schema::RuntimeGraph> {
    return base::fail(base::ErrorCode::io, "no room for it");
  };
  const auto notes = fakes::texts_of(must_run().run.notes);
  EXPECT_EQ(std::count(notes.begin(), notes.end(), "it is unknown how the runtime fuses the model: no room for it"), 1);
  executor_.graph = nullptr;
  request_.use_store = false;
  const auto quiet = must_run().run;
  EXPECT_TRUE(quiet.runtime_graphs.empty());
  for (const auto& note : quiet.notes)
    EXPECT_EQ(fakes::text_of(note).find("fuses"), std::string::npos) << fakes::text_of(note);
}

TEST_F(TuneCampaignTest, the_graph_is_looked_at_before_the_search_has_used_the_time_up) {
  executor_.graph = [](const schema::TrialSpec&) -> base::Result<schema::RuntimeGraph> {
    return schema::RuntimeGraph{"extended", 12, 1e6, ""};
  };
  request_.max_time = std::chrono::seconds(10);
  request_.paired.max_time_s = 2;
  executor_.duration_s = [](int) { return 0.5; };
  request_.finalists = 1;
  executor_.setup_s = [](const Configuration& c) { return c.empty() ? 0.3 : 4.0; };  // a comparison takes all there is
  const auto run = must_run().run;
  EXPECT_LT(run.trials.size(), 6U);
  EXPECT_EQ(run.runtime_graphs.size(), 1U);
}

TEST_F(TuneCampaignTest, teaches_of_its_device_what_runs_of_other_models_then_know) {
  const auto first = must_run();
  EXPECT_TRUE(first.learned.empty());
  const int trials = executor_.trials_run;
  EXPECT_TRUE(must_run().learned.empty()) << "asked again, the same question finds the same answers";
  EXPECT_EQ(executor_.trials_run, trials);
  executor_.model.sha256 = "another";
  const auto other = must_run();
  const auto& effects = other.learned.effects;
  ASSERT_EQ(effects.count("intra_op_num_threads"), 1U);
  EXPECT_EQ(effects.at("intra_op_num_threads").runs, 1) << "what the second run had cached taught nothing more";
  EXPECT_LT(effects.at("enable_mem_pattern").mean, 0.05);
  EXPECT_GT(effects.at("intra_op_num_threads").mean, 0.2);
  EXPECT_EQ(store_->learned(other.run.device, other.run.provider, "a third")->effects.at("enable_mem_pattern").runs, 2);
}

TEST_F(TuneCampaignTest, recommends_the_fastest_with_an_interval_that_holds_the_truth) {
  const auto result = must_run();
  ASSERT_TRUE(result.run.verdict);
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::change);
  EXPECT_EQ(result.run.verdict->configuration, (Configuration{{"intra_op_num_threads", 2}}));
  ASSERT_TRUE(result.run.verdict->gain);
  EXPECT_LE(result.run.verdict->gain->low, 2.0);
  EXPECT_GE(result.run.verdict->gain->high, 2.0);
  EXPECT_GT(result.run.verdict->gain->low, 1.9);
}

TEST_F(TuneCampaignTest, keeps_the_current_configuration_when_nothing_is_faster) {
  executor_.cost_ns = [](const auto&) { return 1e6; };
  const auto result = must_run();
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::keep);
  EXPECT_EQ(result.run.verdict->configuration, result.run.current);
  EXPECT_TRUE(to_write(result.run).empty());
}

TEST_F(TuneCampaignTest, compares_the_best_other_one_where_the_current_configuration_is_the_fastest) {
  executor_.cost_ns = [](const Configuration& c) { return c.empty() ? 1e6 : 1.5e6; };
  const auto result = must_run();
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::keep);
  ASSERT_FALSE(result.run.pairs.empty());
  EXPECT_NE(result.run.pairs.front().b, result.run.current);
  for (const auto& note : result.run.notes)
    EXPECT_EQ(fakes::text_of(note).find("was faster"), std::string::npos) << fakes::text_of(note);
}

TEST_F(TuneCampaignTest, keeps_the_current_configuration_when_the_gain_is_below_the_minimum_effect) {
  request_.min_effect = 0.1;
  executor_.cost_ns = [](const Configuration& c) { return c.contains("intra_op_num_threads") ? 0.95e6 : 1e6; };
  EXPECT_EQ(must_run().run.verdict->decision, schema::Decision::keep);
}

TEST_F(TuneCampaignTest, says_that_a_wide_interval_left_it_undecided) {
  executor_.noise = 0.5;
  executor_.cost_ns = [](const auto&) { return 1e6; };
  executor_.pair_ratio = [](const auto&, const auto&) { return 1.1; };
  request_.paired.abba_rounds = 4;
  const auto verdict = *must_run().run.verdict;
  ASSERT_EQ(verdict.decision, schema::Decision::keep) << fakes::text_of(verdict.reason);
  EXPECT_NE(fakes::text_of(verdict.reason).find("not decided: "), std::string::npos) << fakes::text_of(verdict.reason);
  EXPECT_TRUE(verdict.undecided);
  EXPECT_EQ(fakes::text_of(verdict.reason).find("nothing beat it"), std::string::npos)
      << fakes::text_of(verdict.reason);
}

TEST_F(TuneCampaignTest, recommends_nothing_by_a_percentile_that_the_samples_do_not_support) {
  request_.objective = schema::Objective::p99;  // 200 samples a trial
  const auto verdict = *must_run().run.verdict;
  EXPECT_EQ(verdict.decision, schema::Decision::none);
  EXPECT_NE(fakes::text_of(verdict.reason).find("has 200 of the 1000 samples"), std::string::npos)
      << fakes::text_of(verdict.reason);
}

TEST_F(TuneCampaignTest, leaves_out_a_setting_that_adds_nothing) {
  executor_.noise = 0.002;
  executor_.cost_ns = [](const Configuration& c) {
    return (c.get_or("intra_op_num_threads", 0) == Value(2) ? 1e6 : 2e6) *
           (c.contains("enable_mem_pattern") ? 0.997 : 1.0);
  };
  request_.finalists = 1;
  const auto result = must_run();
  EXPECT_EQ(result.run.verdict->configuration, (Configuration{{"intra_op_num_threads", 2}}));
}

TEST_F(TuneCampaignTest, reports_what_each_of_several_settings_contributes) {
  executor_.cost_ns = [](const Configuration& c) {
    return (c.get_or("intra_op_num_threads", 0) == Value(2) ? 1e6 : 2e6) *
           (c.contains("enable_mem_pattern") ? 0.8 : 1.0);
  };
  const auto result = must_run();
  EXPECT_EQ(result.run.verdict->configuration.size(), 2U);
  std::map<std::string, double> ratios;
  for (const auto& pair : result.run.pairs)
    if (pair.purpose == schema::PairPurpose::leave_one_out) ratios[pair.setting] = pair.comparison->ratio;
  ASSERT_EQ(ratios.size(), 2U);
  EXPECT_NEAR(ratios["intra_op_num_threads"], 0.5, 0.02);  // without it, against the winner
  EXPECT_NEAR(ratios["enable_mem_pattern"], 0.8, 0.02);
}

TEST_F(TuneCampaignTest, drops_a_setting_that_hurts_even_where_the_detour_over_the_current_configuration_disagrees) {
  const Configuration both{{"enable_mem_pattern", false}, {"intra_op_num_threads", 2}};
  const Configuration simpler{{"intra_op_num_threads", 2}};
  executor_.cost_ns = [&](const Configuration& c) { return c == both ? 0.87e6 : c == simpler ? 0.9e6 : 1e6; };
  executor_.pair_ratio = [&](const Configuration& a, const Configuration& b) -> std::optional<double> {
    if (a == both && b == simpler) return 1.07;  // side by side the setting hurts
    if (b == simpler) return 1.09;
    if (b == both) return 1.15;
    return std::nullopt;
  };
  request_.finalists = 1;
  const auto result = must_run();
  EXPECT_EQ(result.run.verdict->configuration, simpler) << result.run.verdict->configuration.to_text();
  ASSERT_TRUE(result.run.verdict->gain);
  EXPECT_NEAR(result.run.verdict->gain->ratio, 1.09, 0.02);
}

TEST_F(TuneCampaignTest, answers_the_same_question_from_the_store) {
  must_run();
  const int trials = executor_.trials_run;
  const int pairs = executor_.pairs_run;
  const auto again = must_run();
  EXPECT_EQ(executor_.trials_run, trials);
  EXPECT_EQ(executor_.pairs_run, pairs);
  EXPECT_EQ(executor_.references_made, 1);
  for (const auto& trial : again.run.trials) EXPECT_TRUE(trial.cached);
  EXPECT_EQ(again.run.verdict->decision, schema::Decision::change);
}

// Trials that an uneven machine's speed corrects are proposed otherwise when they are all known: the answer was
// another.
TEST_F(TuneCampaignTest, a_second_answer_stands_by_the_first) {
  const auto first = must_run();
  executor_.cost_ns = [](const auto&) { return 1e6; };  // what is measured now would say something else
  executor_.pair_ratio = [](const auto&, const auto&) { return 1.0; };
  const auto again = must_run();
  EXPECT_EQ(fakes::text_of(again.run.verdict->reason), fakes::text_of(first.run.verdict->reason));
  EXPECT_EQ(again.run.verdict->configuration, first.run.verdict->configuration);
  EXPECT_EQ(again.run.trials.size(), first.run.trials.size());
  EXPECT_EQ(again.run.pairs.size(), first.run.pairs.size());
  const auto says = [](const TuneResult& result, std::string_view words) {
    return std::any_of(result.run.notes.begin(), result.run.notes.end(),
                       [&](const auto& note) { return fakes::text_of(note).find(words) != std::string::npos; });
  };
  EXPECT_TRUE(says(again, "answered from the results file, because run " + first.run.id));
  // Another question is another one, and one that has no answer yet is measured, with the reason.
  request_.min_effect = 0.05;
  EXPECT_FALSE(says(must_run(), "answered from the results file"));
}

TEST_F(TuneCampaignTest, says_why_the_same_question_is_measured_again) {
  executor_.interrupt = [this] { return executor_.trials_run == 3; };
  const auto first = must_run();
  executor_.interrupt = [] { return false; };
  const auto notes = fakes::texts_of(must_run().run.notes);
  EXPECT_EQ(std::count(notes.begin(), notes.end(),
                       fmt::format("run {} had the same request, but was interrupted: its measurements are used, and "
                                   "the rest is measured now",
                                   first.run.id)),
            1);
}

// "Trial 5 leads with 49 ms", and its own comparison said 60; trials of 57 ms were never compared.
TEST_F(TuneCampaignTest, a_leader_that_comes_to_less_than_its_rank_meets_the_next_ones) {
  const Configuration leader{{"intra_op_num_threads", 2}};
  const Configuration next{{"intra_op_num_threads", 4}};
  executor_.cost_ns = [&](const Configuration& c) { return c == leader ? 1e6 : c == next ? 1.15e6 : 2e6; };
  request_.leave_one_out = false;
  double reached = 1.2;  // of the 2.0 that its trial promises
  executor_.pair_ratio = [&](const Configuration& a, const Configuration& b) -> std::optional<double> {
    if (a.empty() && b == leader) return reached;
    if (a == leader && b == next) return 1.5;
    return std::nullopt;
  };
  const auto met = [&](const TuneResult& result) {
    return std::any_of(result.run.pairs.begin(), result.run.pairs.end(),
                       [&](const auto& pair) { return pair.a == leader && pair.b == next; });
  };
  const auto contradicted = must_run();
  EXPECT_TRUE(met(contradicted));
  EXPECT_EQ(contradicted.run.verdict->configuration, next) << fakes::text_of(contradicted.run.verdict->reason);
  ASSERT_TRUE(contradicted.run.verdict->gain);
  EXPECT_NEAR(contradicted.run.verdict->gain->ratio, 2 / 1.15, 0.02) << "its own, of its own comparison";
  // One that keeps its promise meets nobody.
  request_.use_store = false;
  reached = 2;
  const auto kept = must_run();
  EXPECT_FALSE(met(kept));
  EXPECT_EQ(kept.run.verdict->configuration, leader);
}

TEST_F(TuneCampaignTest, a_comparison_that_lacked_time_is_made_again) {
  executor_.pair_flags = {
      {schema::FlagLevel::notice, "few_rounds", fakes::legacy("two pairs of sessions were compared")}};
  const auto first = must_run();
  const int pairs = executor_.pairs_run;
  ASSERT_GT(pairs, 0);
  EXPECT_TRUE(store_->find_pair(first.run.pairs.front().key).value()) << "kept all the same";
  executor_.pair_flags.clear();
  must_run();
  EXPECT_EQ(executor_.pairs_run, 2 * pairs);
  must_run();
  EXPECT_EQ(executor_.pairs_run, 2 * pairs) << "now it is known";
}

// The race ends a trial by an interval of its own, narrower than the reported one: a second run began to measure there.
TEST_F(TuneCampaignTest, a_trial_stopped_early_whose_interval_is_wide_is_not_measured_again) {
  request_.search = "adaptive";
  const auto first = must_run();
  const auto lost = std::find_if(first.run.trials.begin(), first.run.trials.end(), [](const auto& trial) {
    return trial.configuration.get_or("intra_op_num_threads", 0) == Value(4);
  });
  ASSERT_NE(lost, first.run.trials.end());
  auto stored = store_->find_trial(lost->key).value().value();
  auto& seen = *stored.outcome.measurement;
  seen.stop_reason = schema::StopReason::stopped_early;
  seen.latency_ns.assign(40, 2e6);
  std::fill_n(seen.latency_ns.begin(), 18, 0.9e6);
  ASSERT_TRUE(store_->save_trial(stored.spec, stored.outcome));
  const auto again = must_run();
  const auto same = std::find_if(again.run.trials.begin(), again.run.trials.end(),
                                 [&](const auto& trial) { return trial.key == lost->key; });
  ASSERT_NE(same, again.run.trials.end());
  EXPECT_TRUE(same->cached);
}

TEST_F(TuneCampaignTest, measures_again_when_told_to) {
  must_run();
  const int trials = executor_.trials_run;
  request_.use_store = false;
  must_run();
  EXPECT_EQ(executor_.trials_run, 2 * trials);
}

TEST_F(TuneCampaignTest, an_interrupt_keeps_what_was_found_and_the_next_run_goes_on) {
  executor_.interrupt = [this] { return executor_.trials_run == 3; };
  const auto first = must_run();
  EXPECT_TRUE(first.run.interrupted);
  EXPECT_EQ(first.run.trials.size(), 3U);
  EXPECT_EQ(first.run.verdict->decision, schema::Decision::none);
  EXPECT_NE(fakes::text_of(first.run.verdict->reason).find("interrupted"), std::string::npos);
  executor_.interrupt = [] { return false; };
  const auto second = must_run();
  EXPECT_EQ(executor_.trials_run, static_cast<int>(second.run.trials.size()));  // the first three were not repeated
  EXPECT_EQ(second.run.verdict->decision, schema::Decision::change);
}

TEST_F(TuneCampaignTest, does_not_choose_a_configuration_whose_outputs_drifted) {
  executor_.output_error = [](const Configuration& c) {
    return c.get_or("intra_op_num_threads", 0) == Value(2) ? 0.5 : 0.0;
  };
  const auto strict = must_run();
  EXPECT_EQ(strict.run.verdict->decision, schema::Decision::keep);
  bool rejected = false;
  for (const auto& [key, outcome] : strict.outcomes)
    rejected |= outcome.status == schema::TrialStatus::rejected_accuracy;
  EXPECT_TRUE(rejected);
  // Another tolerance judges the same measurements anew.
  const int trials = executor_.trials_run;
  request_.accuracy_tolerance = 1.0;
  EXPECT_EQ(must_run().run.verdict->decision, schema::Decision::change);
  EXPECT_EQ(executor_.trials_run, trials);
}

TEST_F(TuneCampaignTest, refuses_a_model_whose_outputs_are_not_finite) {
  executor_.reference_nonfinite = 3;
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::ErrorCode::invalid_argument);
  EXPECT_NE(result.error().message.find("\"y\""), std::string::npos);
  EXPECT_NE(result.error().hint.find("--input"), std::string::npos);
}

TEST_F(TuneCampaignTest, says_why_when_nothing_ran) {
  executor_.failure = [](const auto&) { return schema::TrialStatus::crashed; };
  const auto result = must_run();
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::none);
  EXPECT_NE(fakes::text_of(result.run.verdict->reason).find("failed (crashed); trial 1: made to fail"),
            std::string::npos);
}

TEST_F(TuneCampaignTest, goes_on_after_failures) {
  executor_.failure = [](const Configuration& c) -> std::optional<schema::TrialStatus> {
    if (c.get_or("intra_op_num_threads", 0) == Value(1)) return schema::TrialStatus::out_of_memory;
    return std::nullopt;
  };
  EXPECT_EQ(must_run().run.verdict->configuration, (Configuration{{"intra_op_num_threads", 2}}));
}

TEST_F(TuneCampaignTest, changes_away_from_a_current_configuration_that_does_not_run) {
  request_.current = Configuration{{"intra_op_num_threads", 4}};
  executor_.failure = [](const Configuration& c) -> std::optional<schema::TrialStatus> {
    if (c.get_or("intra_op_num_threads", 0) == Value(4)) return schema::TrialStatus::invalid;
    return std::nullopt;
  };
  const auto result = must_run();
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::change);
  EXPECT_EQ(to_write(result.run), (Configuration{{"intra_op_num_threads", 2}}));
}

TEST_F(TuneCampaignTest, names_the_constraint_that_nothing_meets) {
  request_.constraints = {{"latency_median_ms", true, 0.001}};
  const auto result = must_run();
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::none);
  EXPECT_NE(fakes::text_of(result.run.verdict->reason).find("latency_median_ms"), std::string::npos);
}

TEST_F(TuneCampaignTest, keeps_a_setting_of_the_users_file_that_is_not_searched) {
  request_.current = Configuration{{"use_deterministic_compute", true}};
  const auto result = must_run();
  for (const auto& trial : result.run.trials)
    EXPECT_EQ(trial.configuration.get_or("use_deterministic_compute", false), Value(true));
  EXPECT_FALSE(to_write(result.run).contains("use_deterministic_compute"));
}

TEST_F(TuneCampaignTest, writes_a_default_that_the_file_spells_otherwise) {
  request_.current = Configuration{{"intra_op_num_threads", 4}};
  executor_.cost_ns = [](const Configuration& c) { return c.contains("intra_op_num_threads") ? 2e6 : 1e6; };
  EXPECT_EQ(to_write(must_run().run), (Configuration{{"intra_op_num_threads", 0}}));
}

TEST_F(TuneCampaignTest, refuses_a_gpu_provider_without_a_gpu) {
  request_.provider = "cuda";
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("cuda"), std::string::npos);
  EXPECT_NE(result.error().hint.find("--provider cpu"), std::string::npos);
}

TEST_F(TuneCampaignTest, loads_what_it_saved) {
  const auto result = must_run();
  const auto loaded = load_stored(*store_, result.run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(base::Json(loaded->run), base::Json(result.run));
  EXPECT_EQ(loaded->outcomes.size(), result.outcomes.size());
  EXPECT_EQ(loaded->pairs.size(), result.pairs.size());
}

TEST_F(TuneCampaignTest, compares_runs_and_finds_the_slower_one) {
  const auto before = must_run();
  executor_.cost_ns = [](const auto&) { return 3e6; };
  request_.use_store = false;
  request_.plan.max_time_s = 4;  // another plan, so that the first records stay
  const auto after = must_run();
  const auto a = compared(*store_, before.run.id);
  const auto b = compared(*store_, after.run.id);
  ASSERT_TRUE(a) << a.error().message;
  ASSERT_TRUE(b) << b.error().message;
  const auto comparison = compare_runs(*a, *b, 0.02);
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->verdict, schema::Verdict::slower);
  EXPECT_FALSE(compared(*store_, before.run.id + "/99"));
}

TEST_F(TuneCampaignTest, refuses_a_model_whose_inputs_cannot_be_made_right_after_the_inspection) {
  for (const std::string type : {"string", "optional(tensor(float))", "seq(tensor(float))"}) {
    executor_.model.inputs = {{"x", type, {}, {}}};
    const auto result = run();
    ASSERT_FALSE(result) << type;
    EXPECT_EQ(result.error().code, base::ErrorCode::unsupported);
    EXPECT_NE(result.error().message.find("input \"x\" has type " + type), std::string::npos) << result.error().message;
    EXPECT_EQ(result.error().message.find("--ort-library"), std::string::npos) << result.error().message;
  }
  EXPECT_EQ(executor_.references_made, 0);
}

TEST_F(TuneCampaignTest, refuses_a_shape_whose_batch_contradicts_the_batch_asked_for) {
  executor_.model.inputs = {{"x", "float", {-1, 8, 8}, {"N", "", ""}}};
  executor_.model.batch_is_dynamic = true;
  request_.space.fixed = {{"batch_size", 4}};
  request_.space.asked_by = {{"batch_size", "--batch 4"}};
  request_.workload.shapes = {{{"x", {2, 8, 8}}}};
  const auto refused = run();
  ASSERT_FALSE(refused);
  EXPECT_EQ(base::error_line(refused.error()),
            "--shape x:2x8x8 has batch 2 on axis 0, but --batch 4 asks for another; give 1 there, or leave one of the "
            "two out");
  for (const std::int64_t fits : {1, 4}) {
    request_.workload.shapes = {{{"x", {fits, 8, 8}}}};
    EXPECT_TRUE(run()) << fits;
  }
}

}  // namespace
}  // namespace ridgeline::campaign
