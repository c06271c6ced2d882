// SPDX-License-Identifier: Apache-2.0
#include "schema/sweep.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(SweepParam, name, values)
RL_DEFINE_JSON(SweepObjective, metric, maximize)
RL_DEFINE_JSON(SweepFile, path, fingerprint)
RL_DEFINE_JSON(SweepOutcome, status, metrics, failure, folder, notes, measured_utc, duration_s, timeout_s, files)
RL_DEFINE_JSON(SweepEstimate, value, low, high)
RL_DEFINE_JSON(SweepSummary, point, trials, failed, objective, metrics, behind, tie, rank_in_lists)
RL_DEFINE_JSON(SweepEffect, name, values)
RL_DEFINE_JSON(SweepAnswers, best, recommended, reason, proven, gain, effects)
RL_DEFINE_JSON(SweepMetric, name, source, pattern, take)
RL_DEFINE_JSON(SweepJob, command, environment, parameters, metrics, metric_file, directory, timeout_s, depends)
RL_DEFINE_JSON(SweepTrial, id, stage, key, point, repeat, from_store, started_s, reason, outcome)
RL_DEFINE_JSON(SweepRun, id, command_line, started_utc, finished_utc, duration_s, interrupted, interruption, job,
               objective, search, repeats, min_effect, tolerance, space_size, environment, device_id, folder, trials,
               points, answers)

}  // namespace ridgeline::schema
