// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/compare_runs.hpp"

#include <algorithm>

#include "analysis/comparison.hpp"
#include "campaign/tune/tune_campaign.hpp"

namespace ridgeline::campaign {

using base::ErrorCode;
using base::fail;

base::Result<ComparedTrial> compared_trial(store::Store& store, const run::TrialName& name) {
  RL_TRY_ASSIGN(auto result, complete_result(store, name.run));
  auto& run = result.run;
  const auto reference = name.trial == 0 ? run.id : fmt::format("{}/{}", run.id, name.trial);
  int id = name.trial != 0 ? name.trial : run.verdict ? run.verdict->trial_id : 0;
  if (id == 0) {
    const auto ranking = analysis::rank(run, result.outcomes);
    if (!ranking.empty()) id = ranking.front().trial->id;
  }
  const auto trial =
      std::find_if(run.trials.begin(), run.trials.end(), [&](const auto& entry) { return entry.id == id; });
  if (trial == run.trials.end())
    return fail(ErrorCode::invalid_argument, "{}: no trial of run {} ran to the end", reference, run.id)
        .hint("see ridgeline show {}", run.id);
  const auto outcome = result.outcomes.find(trial->key);
  if (outcome == result.outcomes.end() || !outcome->second.measurement ||
      outcome->second.measurement->latency_ns.empty())
    return fail(ErrorCode::invalid_argument, "{}: trial {} of run {} has no measurement{}", reference, id, run.id,
                outcome == result.outcomes.end() ? std::string()
                                                 : fmt::format(" ({})", base::enum_name(outcome->second.status)))
        .hint("choose another with RUN/TRIAL");
  return ComparedTrial{run, *trial, outcome->second};
}

base::Result<schema::Comparison> compare_runs(const ComparedTrial& a, const ComparedTrial& b, double min_effect) {
  const auto refuse = [&](std::string_view what) {
    return fail(ErrorCode::invalid_argument, "{} and {} have different {}: a ratio of the two would mean nothing",
                a.name(), b.name(), what)
        .hint("compare runs of the same workload");
  };
  if (a.run.request.objective != b.run.request.objective) return refuse("objectives");
  if (a.run.workload.kind != b.run.workload.kind || a.run.workload.content_sha256 != b.run.workload.content_sha256)
    return refuse("models");
  if (a.run.workload.shapes != b.run.workload.shapes) return refuse("input shapes");
  return analysis::compare_separate(*a.outcome.measurement, *b.outcome.measurement, a.run.request.objective,
                                    min_effect);
}

}  // namespace ridgeline::campaign
