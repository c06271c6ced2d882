// SPDX-License-Identifier: Apache-2.0
#include "campaign/compare_runs.hpp"

#include <algorithm>

#include "analysis/comparison.hpp"
#include "base/text.hpp"
#include "campaign/tune_campaign.hpp"

namespace ridgeline::campaign {

using base::ErrorCode;
using base::fail;

base::Result<ComparedTrial> find_compared(store::Store& store, const std::string& reference) {
  const auto slash = reference.find('/');
  RL_TRY_ASSIGN(auto result, load_result(store, reference.substr(0, slash)));
  auto& run = result.run;
  int id = run.verdict ? run.verdict->trial_id : 0;
  if (slash != std::string::npos) {
    const auto text = reference.substr(slash + 1);
    const auto number = base::parse_integer(text, "trial");
    if (!number || *number < 1 || *number > static_cast<std::int64_t>(run.trials.size()))
      return fail(ErrorCode::not_found, "{}: run {} has trials 1 to {}; expected RUN/TRIAL, for example {}/1",
                  reference, run.id, run.trials.size(), run.id);
    id = static_cast<int>(*number);
  } else if (id == 0) {
    const auto ranking = analysis::rank(run, result.outcomes);
    if (!ranking.empty()) id = ranking.front().trial->id;
  }
  const auto trial =
      std::find_if(run.trials.begin(), run.trials.end(), [&](const auto& entry) { return entry.id == id; });
  if (trial == run.trials.end())
    return fail(ErrorCode::invalid_argument, "{}: no trial of run {} ran to the end; see ridgeline show {}", reference,
                run.id, run.id);
  const auto outcome = result.outcomes.find(trial->key);
  if (outcome == result.outcomes.end() || !outcome->second.measurement ||
      outcome->second.measurement->latency_ns.empty())
    return fail(ErrorCode::invalid_argument,
                "{}: trial {} of run {} has no measurement{}; choose another with RUN/TRIAL", reference, id, run.id,
                outcome == result.outcomes.end() ? std::string()
                                                 : fmt::format(" ({})", base::enum_name(outcome->second.status)));
  return ComparedTrial{run, *trial, outcome->second};
}

base::Result<schema::Comparison> compare_runs(const ComparedTrial& a, const ComparedTrial& b, double min_effect) {
  const auto refuse = [&](std::string_view what) {
    return fail(ErrorCode::invalid_argument, "{} and {} have different {}: a ratio of the two would mean nothing",
                a.name(), b.name(), what);
  };
  if (a.run.objective != b.run.objective) return refuse("objectives");
  if (a.run.workload.kind != b.run.workload.kind || a.run.workload.content_sha256 != b.run.workload.content_sha256)
    return refuse("models");
  if (a.run.workload.shapes != b.run.workload.shapes) return refuse("input shapes");
  return analysis::compare_separate(*a.outcome.measurement, *b.outcome.measurement, a.run.objective, min_effect);
}

}  // namespace ridgeline::campaign
