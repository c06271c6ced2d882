// SPDX-License-Identifier: Apache-2.0
#include "schema/sweep.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "schema/former_keys.hpp"
#include "schema/messages.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(SweepParam, name, values)
RL_DEFINE_JSON(SweepObjective, metric, maximize)
RL_DEFINE_JSON(SweepFile, path, fingerprint)
RL_DEFINE_JSON(SweepOutcome, status, metrics, failure, folder, notes, measured_utc, duration_s, timeout_s, files)
RL_DEFINE_JSON(SweepSummary, point, trials, failed, objective, metrics, behind, tie, rank_in_lists)
RL_DEFINE_JSON(SweepEffect, name, values)
RL_DEFINE_JSON(SweepAnswers, best, recommended, reason, proven, gain, effects)
RL_DEFINE_JSON(SweepMetric, name, source, pattern, take)
RL_DEFINE_JSON(SweepJob, command, environment, parameters, metrics, metric_file, directory, timeout_s, depends)
RL_DEFINE_JSON(SweepRequest, RL_RUN_REQUEST, job, objective, search, trials, seed, repeats, warmups, min_effect,
               tolerance, keep_going)
RL_DEFINE_JSON(SweepDifference, metric, maximize, has_interval, value)
RL_DEFINE_JSON(SweepTrialSpec, job, point, repeat, device_id)
RL_DEFINE_JSON(SweepTrial, id, stage, key, point, repeat, cached, started_s, reason, outcome)
RL_DEFINE_JSON(SweepRun, RL_RUN_ENVELOPE, interruption, request, space_size, environment, device_id, folder, trials,
               points, answers)

Run to_run(const SweepRun& run) {
  RunLine line;
  line.subject = fmt::format("{}", fmt::join(run.request.job.command, " "));
  line.objective = run.request.objective.to_text();
  if (run.answers)
    for (const auto& point : run.points)
      if (point.point == run.answers->recommended) {
        const bool is_first =
            std::all_of(run.request.job.parameters.begin(), run.request.job.parameters.end(), [&](const auto& param) {
              const auto value = point.point.find(param.name);
              return !param.values.empty() && value != point.point.end() && value->second == param.values.front();
            });
        line.decision = is_first ? "keep" : "change";
        line.answer = messages::answer_settings(point_text(point.point, run.request.job.parameters));
        line.value = point.objective.value;
      }
  return wrap_run(SweepRun::kLayout, run, std::move(line));
}

}  // namespace ridgeline::schema
