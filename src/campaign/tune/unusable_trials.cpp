// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/unusable_trials.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "campaign/line_of.hpp"
#include "campaign/messages.hpp"

namespace ridgeline::campaign {
namespace {

using schema::TrialStatus;

struct Cause {
  TrialStatus status = TrialStatus::failed;
  std::size_t trials = 0;
  int first_trial = 0;
  schema::Failure failure;  ///< of the first
};

/// Outputs are off by another number in each trial, so what was rejected counts as one.
std::vector<Cause> causes_of(const TuneResult& result) {
  std::vector<Cause> causes;
  std::map<std::pair<TrialStatus, std::string>, std::size_t> places;
  for (const auto& trial : result.run.trials) {
    const auto found = result.outcomes.find(trial.key);
    if (found == result.outcomes.end() || found->second.status == TrialStatus::ok) continue;
    const auto& outcome = found->second;
    const auto failure = outcome.failure.value_or(schema::Failure{});
    const bool rejected = outcome.status == TrialStatus::rejected_accuracy;
    const auto [place, is_new] = places.try_emplace(
        {outcome.status, rejected ? "" : base::dump_json(base::Json(failure.message))}, causes.size());
    if (is_new) causes.push_back({outcome.status, 0, trial.id, failure});
    ++causes[place->second].trials;
  }
  return causes;
}

/// What accepts the trial that is named; nullopt where a tolerance is not what decides.
std::optional<double> accepting_tolerance(const TuneResult& result, const Cause& cause) {
  const auto& run = result.run;
  const auto gate = run.accuracy_gate.value_or(schema::AccuracyGate{});
  if (gate.reference_metric || gate.least_cosine > 0) return std::nullopt;
  const auto named = std::find_if(run.trials.begin(), run.trials.end(),
                                  [&](const auto& trial) { return trial.id == cause.first_trial; });
  const auto& found = result.outcomes.at(named->key).output_error;
  if (!found || found->shape_mismatch || found->nan_mismatches > 0) return std::nullopt;
  return found->scaled_max_abs > run.accuracy_tolerance ? std::optional(found->scaled_max_abs) : std::nullopt;
}

schema::Message way_out(const TuneResult& result, const Cause& cause) {
  switch (cause.status) {
    case TrialStatus::rejected_accuracy:
      if (const auto error = accepting_tolerance(result, cause)) return messages::widen_tolerance(1.1 * *error);
      return messages::skip_check();
    case TrialStatus::timeout: return messages::more_time_or_smaller();
    case TrialStatus::out_of_memory: return messages::smaller_or_free();
    case TrialStatus::unsupported: return messages::other_runtime();
    case TrialStatus::invalid: return messages::leave_out_settings();
    default: return messages::ask_doctor();
  }
}

}  // namespace

schema::Message why_none_is_usable(const TuneResult& result) {
  const auto causes = causes_of(result);
  const auto trials = result.run.trials.size();
  if (causes.empty()) return messages::none_timed(static_cast<std::int64_t>(trials));
  const auto& most =
      *std::max_element(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.trials < b.trials; });
  return messages::none_usable({.trials = static_cast<std::int64_t>(trials),
                                .all = most.trials == trials,
                                .count = static_cast<std::int64_t>(most.trials),
                                .rejected = most.status == TrialStatus::rejected_accuracy,
                                .one = trials == 1 || most.trials == 1,
                                .status = std::string(base::enum_name(most.status)),
                                .trial = most.first_trial,
                                .failure = most.failure.message,
                                .hinted = advises(most.failure.message),
                                .way_out = way_out(result, most)});
}

}  // namespace ridgeline::campaign
