// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/ranking.hpp"
#include "schema/device_learning.hpp"

namespace ridgeline::analysis {

/// What the run measured itself teaches of its device, without what the store answered, which was learned before: how
/// sessions differ by its comparisons (session_scatter), and what parameters do by trials that differ in one of them.
[[nodiscard]] schema::DeviceLearning learned_from(const schema::TuneRun& run, const OutcomesByKey& outcomes,
                                                  const PairsByKey& pairs);

/// Standard deviation of log cost from one session of a configuration to the next on a GPU: kGpuSessionStdev, as if it
/// had stats::kSessionFreedom degrees of freedom, moderated by what its own runs showed.
[[nodiscard]] double session_stdev(const schema::DeviceLearning& learned);

/// By how much of the faster's cost two trials on a GPU may differ, each of one session, so that either may be the
/// faster.
[[nodiscard]] double session_reach(const schema::DeviceLearning& learned);

}  // namespace ridgeline::analysis
