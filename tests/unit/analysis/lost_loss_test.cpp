// SPDX-License-Identifier: Apache-2.0
#include "analysis/lost_loss.hpp"

#include <gtest/gtest.h>

#include "analysis/bench_answers.hpp"
#include "analysis/bench_evidence.hpp"
#include "fakes/words.hpp"

namespace ridgeline::analysis {
namespace {

using schema::AmpMode;
using schema::TrainingSettings;

schema::BenchTrial trial_of(const TrainingSettings& settings, double rate,
                            std::optional<std::int64_t> lost_at = std::nullopt) {
  schema::BenchTrial out;
  out.settings = settings;
  auto& measurement = out.outcome.measurement.emplace();
  measurement.steps = 20;
  measurement.samples_per_s = {rate, rate * 0.99, rate * 1.01};
  measurement.resources.lost_at_step = lost_at;
  if (lost_at)
    measurement.flags.push_back({schema::FlagLevel::notice, std::string(schema::kLossNotFinite), schema::Message()});
  return out;
}

schema::BenchRun run_with(std::vector<schema::BenchTrial> trials) {
  schema::BenchRun run;
  run.device = "cuda:0";
  run.trials = std::move(trials);
  for (std::size_t i = 0; i < run.trials.size(); ++i) run.trials[i].id = static_cast<int>(i) + 1;
  return run;
}

const TrainingSettings kPlain{64, 2, AmpMode::off, false};
const TrainingSettings kHalf{64, 2, AmpMode::fp16, false};
const TrainingSettings kLargeBatch{256, 2, AmpMode::off, false};

std::string where_of(const schema::BenchRun& run) {
  const auto lost = lost_losses(run);
  return lost ? fakes::text_of(lost->where) : "";
}

TEST(LostLoss, a_run_whose_losses_are_finite_has_none) {
  EXPECT_FALSE(lost_losses(run_with({trial_of(kPlain, 1000), trial_of(kHalf, 2000)})));
}

TEST(LostLoss, the_earliest_step_and_the_only_precision_are_named) {
  const auto run = run_with({trial_of(kPlain, 1000), trial_of(kHalf, 2000, 7), trial_of(kHalf, 2000, 3)});
  const auto lost = lost_losses(run);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->step, 3);
  EXPECT_EQ(lost->lost, 2);
  EXPECT_EQ(lost->trained, 3);
  EXPECT_EQ(lost->first->id, 2);
  EXPECT_EQ(where_of(run), "only with fp16");
}

TEST(LostLoss, a_batch_from_which_on_it_is_lost_is_named) {
  EXPECT_EQ(where_of(run_with({trial_of(kPlain, 1000), trial_of(kLargeBatch, 2000, 1)})),
            "only with batches from 256 on");
  EXPECT_EQ(where_of(run_with({trial_of(kPlain, 1000, 1), trial_of(kLargeBatch, 2000)})), "only with batches up to 64");
}

TEST(LostLoss, settings_with_nothing_in_common_are_listed) {
  const TrainingSettings middle{128, 2, AmpMode::off, false};
  const auto run = run_with({trial_of(kPlain, 1000), trial_of(middle, 1500, 4), trial_of(kLargeBatch, 2000)});
  EXPECT_EQ(where_of(run), "under batch 128, 2 workers, no AMP, not pinned");
}

TEST(LostLoss, a_loader_alone_trains_nothing) {
  auto alone = trial_of(kPlain, 9000);
  alone.data = schema::DataMode::loader_only;
  EXPECT_EQ(where_of(run_with({alone, trial_of(kHalf, 2000, 1)})), "under all settings");
}

TEST(LostLoss, settings_without_a_finite_loss_are_no_answer) {
  const auto answers = answer_bench(run_with({trial_of(kPlain, 1000), trial_of(kHalf, 2000, 1)}), {});
  ASSERT_TRUE(answers);
  EXPECT_EQ(answers->fastest->settings, kPlain);
  EXPECT_EQ(answers->recommended->settings, kPlain);
  EXPECT_FALSE(answers->fallback);
  EXPECT_EQ(answers->pareto, std::vector<TrainingSettings>{kPlain});
}

TEST(LostLoss, a_stability_run_that_loses_it_rules_the_settings_out) {
  auto run = run_with({trial_of(kPlain, 1000), trial_of(kHalf, 2000), trial_of(kHalf, 2000, 150)});
  run.trials.back().stage = schema::BenchStage::stability_run;
  EXPECT_EQ(answer_bench(run, {})->recommended->settings, kPlain);
}

TEST(LostLoss, nothing_is_recommended_if_all_lose_it) {
  const auto answers = answer_bench(run_with({trial_of(kPlain, 1000, 1), trial_of(kHalf, 2000, 2)}), {});
  ASSERT_TRUE(answers);
  EXPECT_EQ(answers->fastest->settings, kHalf);
  EXPECT_FALSE(answers->recommended);
  EXPECT_EQ(fakes::text_of(answers->no_recommendation),
            "the loss is not finite under any setting: the training diverges");
}

TEST(LostLoss, evidence_remembers_it) {
  const auto run = run_with({trial_of(kPlain, 1000), trial_of(kHalf, 2000, 1)});
  EXPECT_FALSE(find_evidence(run, kPlain, schema::DataMode::loader)->lost_loss);
  EXPECT_TRUE(find_evidence(run, kHalf, schema::DataMode::loader)->lost_loss);
}

}  // namespace
}  // namespace ridgeline::analysis
