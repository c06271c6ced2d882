// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "schema/training_run.hpp"

namespace ridgeline::analysis {

/// All ok trials of one setting with the user's own loader, repeats together.
struct BenchPoint {
  schema::TrainingSettings settings;
  std::vector<int> trials;
  double samples_per_s = 0;  ///< mean over the trials, each weighted by its steps: sum(rate * steps) / sum(steps)
  double low = 0;            ///< 95 % interval: the widest of the trials', about the mean
  double high = 0;
  std::optional<double> memory_gb;  ///< highest peak reserved
  std::optional<double> capacity_gb;
  bool passed_stability_run = false;  ///< a stability run of these settings ended well, cut by its time or not
  std::int64_t stability_steps = 0;   ///< of that stability run: the steps that it held through
  bool failed_stability_run = false;  ///< one ended badly: never recommended
  bool lost_loss = false;             ///< of a trial, in the end: never recommended
};

/// In the order of first appearance; stability runs and experiments do not count for speed, the stability runs' ends
/// do.
[[nodiscard]] std::vector<BenchPoint> bench_points(const schema::BenchRun& run);
/// Those whose loss is a finite number; all of them if there is none.
[[nodiscard]] std::vector<BenchPoint> points_that_train(const schema::BenchRun& run);

struct AnswerOptions {
  double tolerance = 0.03;
  double headroom = 0.10;
  std::int64_t stability_steps = 0;  ///< that were asked for; 0: none
  /// Why the recommended settings had no stability run although one was asked for; empty: the run ended before.
  schema::Message no_stability_run;
};

/// Whether the point may be recommended as far as its memory, its loss and its stability run go.
[[nodiscard]] bool eligible(const BenchPoint& point, double headroom);

/// Answers from the trials alone; nothing that was not run is ever named. With S the samples/s and M the peak reserved
/// memory of a point (docs/bench.md has all of it as formulas, tests/cli/derive_bench_answers.py another program of
/// them). Points whose loss is NaN or infinite are left out as long as there are others:
///   fastest      the highest S
///   efficient    the highest S / M, among points whose M is known
///   floor        (1 - tolerance) * S(fastest); where no eligible point reaches that (fallback), (1 - tolerance) times
///                the highest S of the eligible ones
///   recommended  among eligible points with S >= floor: the least M, rounded to 1 %, then the fewest workers, then no
///                pinning, then no AMP, then the highest S
///   pareto       points that no other one beats or equals in S, M and workers at once while beating it in one of them
///   ties         points whose interval reaches into that of the fastest
/// Of points equal in all of a rule's steps the first is taken. Where no memory is known, the rules that need it do not
/// apply. The reason of `recommended` says whether these settings had a stability run, and how long it was. nullopt: no
/// ok trial with the loader.
[[nodiscard]] std::optional<schema::BenchAnswers> answer_bench(const schema::BenchRun& run,
                                                               const AnswerOptions& options);

/// The steps that a stability run was cut to by its time: "cut after 312 steps"; empty for every other trial.
[[nodiscard]] schema::Message cut_stability_run(const schema::BenchTrial& trial);
/// Marks the trial as a stability run of which only this much was run. `why`: a message of this module.
void mark_cut_stability_run(schema::BenchTrial& trial, std::int64_t asked, const schema::Message& why);
/// Steps that a trial ran for good or ill, throttled ones counted: 0 without a measurement.
[[nodiscard]] std::int64_t stability_steps_of(const schema::TrainingOutcome& outcome);

/// What changing the batch means for the learning rate and accumulation of a training.
struct BatchConsequence {
  double ratio = 1;             ///< new effective batch over the old, the accumulation left as it is
  double linear_rate = 0;       ///< learning rate by the linear rule (Goyal et al. 2017): times the ratio
  double square_root_rate = 0;  ///< by the square-root rule (Krizhevsky 2014; usual for Adam)
  std::int64_t effective_before = 0;
  std::int64_t effective_after = 0;    ///< with the accumulation left as it is
  std::int64_t accumulation = 1;       ///< steps, 1 or more, that bring the effective batch nearest to the old one
  std::int64_t nearest_effective = 0;  ///< with that accumulation
  bool keeps = false;                  ///< whether that is the old one
  double nearest_ratio = 1;            ///< over the old one
  double nearest_linear_rate = 0;      ///< the two rules for it
  double nearest_square_root_rate = 0;
};
[[nodiscard]] BatchConsequence batch_consequence(std::int64_t old_batch, std::int64_t old_accumulation, double old_rate,
                                                 std::int64_t new_batch);

}  // namespace ridgeline::analysis
