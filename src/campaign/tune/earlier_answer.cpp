// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/earlier_answer.hpp"

#include <algorithm>

#include "campaign/messages.hpp"
#include "campaign/tune/stored_failure.hpp"
#include "campaign/tune/trial_runner.hpp"

namespace ridgeline::campaign {
namespace {

using base::Result;

constexpr std::size_t kNewestRuns = 200;

/// What decides how a run goes, apart from chance: not how it was typed, nor for which report.
base::Json tune_question(const schema::TuneRun& run) {
  base::Json question = run.request;
  for (const auto* key : {"arguments", "outputs", "use_store", "config_path"}) question.erase(key);
  question["model"] = run.model.sha256;
  question["workload"] = run.workload;
  question["runtime"] = run.runtime;
  question["plugin"] = run.plugin;
  question["candidates"] = run.candidates;
  question["current"] = run.current;
  question["in_file"] = run.in_file;
  question["file_provider"] = run.file_provider;
  question["call_variation"] = run.call_variation;
  question["space"] = run.space;
  question["trial_plan"] = run.plan;
  question["location"] = run.tensor_location;
  return question;
}

/// Why a run that was asked the same does not answer; empty: it does.
Result<schema::Message> objection(RunContext& context, const schema::TuneRun& run, TuneResult& answer) {
  if (run.interrupted || run.finished_utc.empty()) return messages::was_interrupted();
  if (!run.verdict || run.verdict->decision == schema::Decision::none) return messages::came_to_no_answer();
  if (run.cut_short) return messages::ended_before_search();
  // A PyTorch model's function may be another one without its file having changed.
  if (!run.model.provider.empty()) return messages::model_is_code();
  RL_TRY_ASSIGN(answer, complete_result(context.store, to_run(run)));
  for (const auto& trial : run.trials) {
    RL_TRY_ASSIGN(const auto stored, context.store.find_trial(trial.key));
    if (!stored) return messages::trial_not_stored(trial.id);
    if (!fails_again(*stored, context.result.run.environment)) return messages::may_not_fail_again(trial.id);
    if (run.call_variation && stored->outcome.output_error && !stored->outcome.output_error->spread)
      return messages::compared_by_value(trial.id);
  }
  for (const auto& pair : run.pairs) {
    const auto stored = answer.pairs.find(pair.key);
    if (stored == answer.pairs.end()) return messages::comparison_not_stored();
    if (stored->second.status != schema::TrialStatus::ok) return messages::comparison_failed();
    if (lacks_time(stored->second)) return messages::comparison_lacked_time();
  }
  return schema::Message();
}

/// Makes `answer` this run's own, and shows it to whoever watches.
void adopt(RunContext& context, TuneResult answer) {
  auto& run = context.result.run;
  auto& earlier = answer.run;
  for (auto& note : earlier.notes)
    if (std::find(run.notes.begin(), run.notes.end(), note) == run.notes.end()) run.notes.push_back(std::move(note));
  context.note(messages::answered_by_earlier(earlier.id));
  context.result.outcomes = std::move(answer.outcomes);
  context.result.pairs = std::move(answer.pairs);
  run.pruned = std::move(earlier.pruned);
  run.accuracy_tolerance = earlier.accuracy_tolerance;
  run.accuracy_gate = std::move(earlier.accuracy_gate);
  run.verdict = std::move(earlier.verdict);
  run.gpu_ceilings = std::move(earlier.gpu_ceilings);
  run.runtime_graphs = std::move(earlier.runtime_graphs);
  run.speed = std::move(earlier.speed);
  auto remaining = earlier.trials.size();
  for (auto& trial : earlier.trials) {
    trial.cached = true;
    trial.started_s = context.budget.elapsed_s();
    context.observer.trial_started(trial, --remaining);
    run.trials.push_back(trial);
    context.observer.trial_finished(trial, context.result.outcomes.at(trial.key));
  }
  for (auto& pair : earlier.pairs) {
    pair.cached = true;
    run.pairs.push_back(pair);
    context.observer.pair_finished(pair);
  }
}

}  // namespace

Result<bool> take_earlier_answer(RunContext& context) {
  if (!context.request.use_store) return false;
  auto& run = context.result.run;
  const auto question = tune_question(run);
  const auto subject = schema::model_name(run);
  RL_TRY_ASSIGN(const auto summaries, context.store.list_runs(kNewestRuns, schema::TuneRun::kLayout.kind));
  for (const auto& summary : summaries) {
    if (summary.id == run.id || summary.line.device != run.device || summary.line.subject != subject) continue;
    const auto other = context.store.load<schema::TuneRun>(summary.id);
    if (!other || tune_question(*other) != question) continue;
    TuneResult answer;
    RL_TRY_ASSIGN(const auto why, objection(context, *other, answer));
    if (why.empty()) {
      adopt(context, std::move(answer));
      return true;
    }
    context.note(messages::earlier_helps({.run = other->id, .why = why}));
    return false;
  }
  return false;
}

}  // namespace ridgeline::campaign
