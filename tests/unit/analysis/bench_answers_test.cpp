// SPDX-License-Identifier: Apache-2.0
#include "analysis/bench_answers.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "analysis/messages.hpp"
#include "base/random.hpp"
#include "fakes/words.hpp"

namespace ridgeline::analysis {
namespace {

using schema::AmpMode;
using schema::TrainingSettings;

schema::BenchTrial trial(const TrainingSettings& settings, double rate, std::optional<double> memory,
                         double capacity = 80) {
  schema::BenchTrial out;
  out.settings = settings;
  schema::TrainingMeasurement measurement;
  measurement.batch = settings.batch;
  measurement.steps = 20;
  measurement.samples_per_s = {rate, rate * 0.99, rate * 1.01};
  measurement.resources.peak_reserved_gb = memory;
  if (memory) measurement.resources.device_capacity_gb = capacity;
  out.outcome.measurement = measurement;
  return out;
}

schema::BenchRun run_of(std::vector<schema::BenchTrial> trials) {
  schema::BenchRun run;
  run.trials = std::move(trials);
  for (std::size_t i = 0; i < run.trials.size(); ++i) run.trials[i].id = static_cast<int>(i) + 1;
  return run;
}

const TrainingSettings kSmall{64, 2, AmpMode::off, false};
const TrainingSettings kMiddle{256, 4, AmpMode::bf16, true};
const TrainingSettings kLarge{512, 8, AmpMode::bf16, true};

TEST(BenchAnswers, three_answers_follow_their_formulas) {
  const auto run = run_of({trial(kSmall, 1000, 2), trial(kMiddle, 3950, 20), trial(kLarge, 4000, 40)});
  const auto answers = answer_bench(run, {});
  ASSERT_TRUE(answers);
  EXPECT_EQ(answers->fastest->settings, kLarge);
  EXPECT_EQ(answers->efficient->settings, kSmall);     // 500 samples/s a GB
  EXPECT_EQ(answers->recommended->settings, kMiddle);  // within 3 % with half the memory
  EXPECT_EQ(answers->pareto.size(), 3U);
  EXPECT_EQ(answers->ties, std::vector<TrainingSettings>{kMiddle});
}

TEST(BenchAnswers, what_fills_the_memory_is_not_recommended) {
  const auto run = run_of({trial(kMiddle, 3000, 20), trial(kLarge, 4000, 75)});
  EXPECT_EQ(answer_bench(run, {})->recommended->settings, kMiddle);
  EXPECT_EQ(answer_bench(run, {0.03, 0.05})->recommended->settings, kLarge);
}

TEST(BenchAnswers, what_is_recommended_below_the_headroom_says_that_it_is_slower) {
  const auto run = run_of({trial(kMiddle, 3000, 20), trial(kLarge, 4000, 75)});
  const auto answers = answer_bench(run, {});
  EXPECT_TRUE(answers->fallback);
  EXPECT_NEAR(answers->floor, 0.97 * 3000, 1e-9);
  EXPECT_NE(fakes::text_of(answers->recommended->reason)
                .find("none that leaves 10 % of the memory free is within 3 % of the fastest"),
            std::string::npos)
      << fakes::text_of(answers->recommended->reason);
  EXPECT_FALSE(answer_bench(run_of({trial(kMiddle, 3950, 20), trial(kLarge, 4000, 75)}), {})->fallback);
}

TEST(BenchAnswers, why_nothing_is_recommended_is_told) {
  const auto answers = answer_bench(run_of({trial(kMiddle, 3000, 78), trial(kLarge, 4000, 79)}), {});
  EXPECT_FALSE(answers->recommended);
  EXPECT_EQ(fakes::text_of(answers->no_recommendation),
            "no setting leaves 10 % of the memory free; --mem-headroom 0% requires none");
  auto run = run_of({trial(kMiddle, 3000, 20)});
  run.trials.push_back(trial(kMiddle, 2900, 20));
  run.trials.back().stage = schema::BenchStage::stability_run;
  run.trials.back().outcome.status = schema::TrialStatus::out_of_memory;
  EXPECT_EQ(fakes::text_of(answer_bench(run, {})->no_recommendation),
            "none of the settings that leave 10 % of the memory free passed its stability run");
}

TEST(BenchAnswers, an_answer_off_the_front_says_why) {
  const TrainingSettings pinned{256, 4, AmpMode::off, true};
  const TrainingSettings plain{256, 4, AmpMode::off, false};
  auto run = run_of({trial(pinned, 4000, 20), trial(plain, 3990, 20.02)});
  auto answers = answer_bench(run, {});
  EXPECT_EQ(answers->recommended->settings, plain);
  EXPECT_EQ(answers->pareto, std::vector<TrainingSettings>{pinned});
  EXPECT_TRUE(answers->fastest->off_front.empty());
  EXPECT_EQ(fakes::text_of(answers->recommended->off_front),
            "batch 256, 4 workers, no AMP, pinned is 0.3 % faster with the same memory (in steps of 1 %) and workers; "
            "this one ranks first because it is not pinned");
  // A failed stability run keeps its settings on the front and off the recommendation.
  run = run_of({trial(kMiddle, 4000, 20), trial({256, 4, AmpMode::bf16, false}, 3990, 21)});
  run.trials.push_back(trial(kMiddle, 3900, 20));
  run.trials.back().stage = schema::BenchStage::stability_run;
  run.trials.back().outcome.status = schema::TrialStatus::failed;
  answers = answer_bench(run, {});
  EXPECT_NE(fakes::text_of(answers->recommended->off_front).find("failed its stability run"), std::string::npos)
      << fakes::text_of(answers->recommended->off_front);
}

TEST(BenchAnswers, a_failed_stability_run_takes_a_setting_out) {
  auto run = run_of({trial(kMiddle, 3950, 20), trial(kLarge, 4000, 40)});
  auto stability_run = trial(kMiddle, 3900, 20);
  stability_run.stage = schema::BenchStage::stability_run;
  stability_run.outcome.status = schema::TrialStatus::out_of_memory;
  run.trials.push_back(stability_run);
  EXPECT_EQ(answer_bench(run, {})->recommended->settings, kLarge);
  run.trials.back() = trial(kMiddle, 3900, 20);
  run.trials.back().stage = schema::BenchStage::stability_run;
  run.trials.back().outcome.measurement->resources.alloc_retries = 3;
  EXPECT_EQ(answer_bench(run, {})->recommended->settings, kLarge);
}

TEST(BenchAnswers, the_recommendation_says_how_long_the_stability_run_was) {
  auto run = run_of({trial(kLarge, 4000, 40)});
  const auto reason = [&](const AnswerOptions& options) {
    return fakes::text_of(answer_bench(run, options)->recommended->reason);
  };
  AnswerOptions options;
  EXPECT_NE(reason(options).find("no stability run; --stability-run 500 adds one"), std::string::npos)
      << reason(options);
  options.stability_steps = 500;
  options.no_stability_run = messages::bench_max_time_up();
  EXPECT_NE(reason(options).find("no stability run: --max-time ran out"), std::string::npos) << reason(options);
  auto stability_run = trial(kLarge, 3900, 40);
  stability_run.stage = schema::BenchStage::stability_run;
  stability_run.outcome.measurement->steps = 300;
  stability_run.outcome.measurement->discarded_steps = 12;
  run.trials.push_back(stability_run);
  EXPECT_NE(reason(options).find("stability run stopped after 312 of 500 steps"), std::string::npos) << reason(options);
  run.trials.back().outcome.measurement->steps = 500;
  EXPECT_NE(reason(options).find("passed a stability run of 500 steps"), std::string::npos) << reason(options);
}

TEST(BenchAnswers, a_cut_stability_run_is_marked) {
  auto stability_run = trial(kLarge, 3900, 40);
  EXPECT_TRUE(cut_stability_run(stability_run).empty());
  stability_run.outcome.measurement->steps = 312;
  mark_cut_stability_run(stability_run, 500, messages::bench_max_time_up());
  EXPECT_EQ(fakes::text_of(cut_stability_run(stability_run)), "stopped after 312 steps");
  EXPECT_EQ(fakes::text_of(stability_run.outcome.measurement->flags.back().message),
            "stability run stopped after 312 of 500 steps: --max-time ran out");
}

TEST(BenchAnswers, only_ok_trials_with_the_loader_are_named) {
  auto device = trial(kLarge, 9000, 10);
  device.data = schema::DataMode::device;
  auto failed = trial(kLarge, 9000, 10);
  failed.outcome.status = schema::TrialStatus::failed;
  EXPECT_EQ(answer_bench(run_of({device, failed, trial(kSmall, 10, 1)}), {})->fastest->settings, kSmall);
  EXPECT_FALSE(answer_bench(run_of({device, failed}), {}));
}

TEST(BenchAnswers, an_experiment_is_no_answer) {
  auto experiment = trial(kLarge, 9000, 10);
  experiment.stage = schema::BenchStage::experiment;
  EXPECT_EQ(answer_bench(run_of({experiment, trial(kSmall, 10, 1)}), {})->fastest->settings, kSmall);
}

TEST(BenchAnswers, repeats_count_together) {
  const auto points = bench_points(run_of({trial(kSmall, 1000, 2), trial(kSmall, 1100, 3)}));
  ASSERT_EQ(points.size(), 1U);
  EXPECT_NEAR(points[0].samples_per_s, 1050, 1e-9);
  EXPECT_EQ(points[0].memory_gb, 3);
  EXPECT_EQ(points[0].trials.size(), 2U);
}

TEST(BenchAnswers, without_memory_the_rules_that_need_it_do_not_apply) {
  const auto answers = answer_bench(run_of({trial(kMiddle, 3950, {}), trial(kLarge, 4000, {})}), {});
  ASSERT_TRUE(answers);
  EXPECT_FALSE(answers->efficient);
  EXPECT_EQ(answers->recommended->settings, kMiddle);  // fewer workers
}

/// Over random runs: nothing is named that was not run, and no recommendation is beaten in everything by another
/// eligible setting beyond what the rules round away (1 % of memory).
TEST(BenchAnswers, no_answer_is_dominated_or_invented) {
  base::Random random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<schema::BenchTrial> trials;
    const auto count = 1 + random.below(30);
    for (std::uint64_t i = 0; i < count; ++i)
      trials.push_back(trial(
          {static_cast<std::int64_t>(1 + random.below(512)), static_cast<int>(random.below(16)), AmpMode::off, false},
          100 + 1000 * random.uniform(), 1 + 90 * random.uniform()));
    const auto run = run_of(trials);
    const auto answers = answer_bench(run, {});
    ASSERT_TRUE(answers);
    const auto points = bench_points(run);
    for (const auto* answer : {&answers->fastest, &answers->efficient, &answers->recommended}) {
      if (!*answer) continue;
      const bool known = std::any_of(points.begin(), points.end(),
                                     [&](const auto& point) { return point.settings == (*answer)->settings; });
      EXPECT_TRUE(known);
    }
    if (!answers->recommended) continue;
    EXPECT_LE(*answers->recommended->memory_gb, 0.9 * 80);
    for (const auto& point : points) {
      if (*point.memory_gb > 0.9 * 80) continue;
      const auto& best = *answers->recommended;
      const bool dominates = point.samples_per_s > best.samples_per_s && *point.memory_gb < *best.memory_gb * 0.99 &&
                             point.settings.workers < best.settings.workers;
      EXPECT_FALSE(dominates) << round;
    }
  }
}

TEST(BatchConsequence, follows_the_two_rules) {
  const auto change = batch_consequence(64, 2, 0.1, 256);
  EXPECT_EQ(change.effective_before, 128);
  EXPECT_EQ(change.effective_after, 512);
  EXPECT_NEAR(change.linear_rate, 0.4, 1e-12);
  EXPECT_NEAR(change.square_root_rate, 0.2, 1e-12);
  EXPECT_EQ(change.accumulation, 1);
  const auto kept = batch_consequence(512, 1, 0.1, 128);
  EXPECT_EQ(kept.accumulation, 4);
  EXPECT_TRUE(kept.keeps);
  EXPECT_EQ(kept.nearest_effective, 512);
}

TEST(BatchConsequence, what_no_accumulation_keeps_is_not_called_kept) {
  const auto larger = batch_consequence(64, 1, 0.1, 128);
  EXPECT_FALSE(larger.keeps);
  EXPECT_EQ(larger.accumulation, 1);
  EXPECT_EQ(larger.nearest_effective, 128);
  const auto between = batch_consequence(100, 1, 0.1, 64);
  EXPECT_FALSE(between.keeps);
  EXPECT_EQ(between.accumulation, 2);
  EXPECT_EQ(between.nearest_effective, 128);
  EXPECT_NEAR(between.nearest_linear_rate, 0.128, 1e-12);
  EXPECT_NEAR(between.nearest_square_root_rate, 0.1 * std::sqrt(1.28), 1e-12);
}

TEST(BenchAnswers, settings_on_a_cpu_say_nothing_of_pinning) {
  const schema::TrainingSettings settings{64, 2, schema::AmpMode::off, false};
  EXPECT_EQ(schema::describe(settings, "cpu"), "batch 64, 2 workers, no AMP");
  EXPECT_EQ(schema::describe(settings, "cuda:0"), "batch 64, 2 workers, no AMP, not pinned");
}

}  // namespace
}  // namespace ridgeline::analysis
