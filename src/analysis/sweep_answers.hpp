// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "schema/sweep.hpp"

namespace ridgeline::analysis {

/// The objective as a cost above 0, lower is better: the number itself, or its reciprocal where more is better. A
/// number of 0 or below keeps its place in the order, but ratios of its cost mean nothing. nullopt when the outcome is
/// not ok or has no such number.
[[nodiscard]] std::optional<double> sweep_cost(const schema::SweepOutcome& outcome,
                                               const schema::SweepObjective& objective);

/// Whether some trial's objective is 0 or below, so that combinations are compared by differences, not by ratios.
[[nodiscard]] bool compares_differences(const schema::SweepRun& run);

/// Trials by combination, best first, combinations that never went well last; warm-ups do not count. A combination with
/// a failed trial ranks behind every one without. Pure: computed again from the trials alone. By differences
/// (compares_differences) x is the objective itself, negated where more is better, exp and log fall away, and minimum
/// effect and tolerance are in the objective's own unit.
///   objective  mean over the ok trials, 95 % interval by Student's t over them (one trial: none)
///   behind     with x(i,r) = log cost of combination i in round r, best = the least mean x among those measured in
///   most
///              rounds: exp(mean over common rounds of x(i,r) - x(best,r)). Its interval rests on the residual variance
///              of the two-way layout x(i,r) = combination + round (rounds are interleaved, so that a slow machine
///              makes a round and no combination slow), or on the pair's own variance where that is larger; t quantile
///              with Bonferroni's correction for all pairs of combinations, since the best was picked for its number
///              (Montgomery, Design and Analysis of Experiments, 8th ed., sections 3.5 and 4.1)
///   tie        not slower than the best by interval and minimum effect (analysis::judge); without repeats only the
///   best
[[nodiscard]] std::vector<schema::SweepSummary> summarize_sweep(const schema::SweepRun& run);

/// From the summaries: best; recommended (among the ties whose mean is within run.request.tolerance of the best's the
/// one whose values stand earliest in their lists); the gain over the first combination; effects of a fully measured
/// grid. nullopt: no combination went well.
[[nodiscard]] std::optional<schema::SweepAnswers> answer_sweep(const schema::SweepRun& run,
                                                               const std::vector<schema::SweepSummary>& points);

}  // namespace ridgeline::analysis
