// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "campaign/tune/tune_campaign.hpp"

namespace ridgeline::campaign {

/// Of --max-time; what is expected may take longer.
inline constexpr double kPlannedShare = 0.97;

/// Seconds that a trial of the configuration is likely to take: the means of those measured in this run, without the
/// first when there are others, because it starts the runtime; what is not timed counts for each session. 0 before any.
[[nodiscard]] double expected_trial_s(const TuneResult& result, const schema::Configuration& configuration);

/// Seconds that a trial of a configuration that was measured may take in a fresh process on a GPU.
[[nodiscard]] double expected_alone_s(const TuneResult& result, const schema::Configuration& configuration);

/// Seconds that reading the runtime's graph may take: creating a session once more, writing and reading the weights. 0
/// before any trial went well.
[[nodiscard]] double expected_graph_s(const TuneResult& result);

/// Seconds that comparing `b` with `a` may take: both arms' sessions with their warm-up in each round, as many blocks
/// as an uneven machine asks for, and the start of a process where it needs a fresh one. Where `b` was not
/// measured, its sessions may take as long as the slowest of this run's.
[[nodiscard]] double expected_pair_s(const TuneResult& result, const schema::PairedPlan& plan, bool fresh_process,
                                     const schema::Configuration& a, const schema::Configuration& b);

/// The same of the best trial so far and the current configuration, by the pair_plan of both; 0 before any trial went
/// well.
[[nodiscard]] double expected_pair_s(const TuneResult& result, const schema::PairedPlan& plan, bool fresh_process);

/// Seconds of the longest trial of this run, without the first when there are others.
[[nodiscard]] double longest_trial_s(const TuneResult& result);

/// The plan of a comparison of `b` with `a` that has `left_s`: where it is expected to take longer, with blocks for
/// half the time at least, and if that is too long with one pair of sessions in place of two. Plans that make as many
/// pairs as an uneven machine needs keep their sessions, those for a percentile keep their blocks.
[[nodiscard]] schema::PairedPlan fitted_plan(const TuneResult& result, const schema::PairedPlan& plan,
                                             bool fresh_process, const schema::Configuration& a,
                                             const schema::Configuration& b, double left_s);

}  // namespace ridgeline::campaign
