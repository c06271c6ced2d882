// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/unusable_trials.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

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
    const auto [place, is_new] = places.try_emplace({outcome.status, rejected ? "" : failure.message}, causes.size());
    if (is_new) causes.push_back({outcome.status, 0, trial.id, failure});
    ++causes[place->second].trials;
  }
  return causes;
}

/// The least that accepts a trial; nullopt where a tolerance is not what decides.
std::optional<double> accepting_tolerance(const TuneResult& result) {
  const auto& run = result.run;
  const auto gate = run.accuracy_gate.value_or(schema::AccuracyGate{});
  if (gate.reference_metric || gate.least_cosine > 0) return std::nullopt;
  std::optional<double> least;
  for (const auto& [key, outcome] : result.outcomes) {
    if (outcome.status != TrialStatus::rejected_accuracy || !outcome.output_error) continue;
    const auto& error = *outcome.output_error;
    if (error.shape_mismatch || error.nan_mismatches > 0 || error.scaled_max_abs <= run.accuracy_tolerance) continue;
    least = std::min(least.value_or(error.scaled_max_abs), error.scaled_max_abs);
  }
  return least;
}

std::string way_out(const TuneResult& result, const Cause& cause) {
  switch (cause.status) {
    case TrialStatus::rejected_accuracy:
      if (const auto least = accepting_tolerance(result))
        return fmt::format(
            "--accuracy-tolerance {:.2g} accepts it if such outputs are good enough, off skips the check",
            1.1 * *least);
      return "--accuracy-tolerance off skips the check";
    case TrialStatus::timeout: return "give it more with --max-time, or smaller inputs with --shape";
    case TrialStatus::out_of_memory: return "give smaller inputs with --shape, or free memory";
    case TrialStatus::unsupported: return "try another runtime with --ort-library, or another --provider";
    case TrialStatus::invalid: return "leave out what was set, in the config file and by --set";
    default: return "ridgeline doctor checks the machine and the runtime";
  }
}

}  // namespace

std::string why_none_is_usable(const TuneResult& result) {
  const auto causes = causes_of(result);
  const auto trials = result.run.trials.size();
  if (causes.empty()) return fmt::format("none of {} configurations was timed to the end", trials);
  const auto& most =
      *std::max_element(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.trials < b.trials; });
  const bool rejected = most.status == TrialStatus::rejected_accuracy;
  const auto who = trials == 1             ? std::string("the only configuration")
                   : most.trials == trials ? fmt::format("all {} configurations", trials)
                                           : fmt::format("{} of {} configurations", most.trials, trials);
  const bool one = trials == 1 || most.trials == 1;
  const auto what = rejected ? std::string(one ? "was rejected for its outputs" : "were rejected for their outputs")
                             : fmt::format("failed ({})", base::enum_name(most.status));
  const auto hint = most.failure.hint.empty() ? way_out(result, most) : most.failure.hint;
  return fmt::format("{} {}; trial {}: {}; {}", who, what, most.first_trial, most.failure.message, hint);
}

}  // namespace ridgeline::campaign
