// SPDX-License-Identifier: Apache-2.0
#include "schema/run.hpp"

#include <utility>

#include "schema/former_keys.hpp"

namespace ridgeline::schema {
namespace {

using base::Json;

/// Takes a member out; null when it is not there.
Json taken(Json& object, std::string_view key) {
  const auto found = object.find(std::string(key));
  if (found == object.end()) return nullptr;
  Json value = std::move(*found);
  object.erase(found);
  return value;
}

template <typename T>
void take(Json& object, std::string_view key, T& into) {
  if (auto value = taken(object, key); !value.is_null()) value.get_to(into);
}

RunTrial wrap_trial(const RunLayout& layout, Json own) {
  RunTrial trial;
  take(own, "id", trial.id);
  take(own, "key", trial.key);
  take(own, "stage", trial.stage);
  take(own, kFormerCached.key, trial.cached);
  take(own, "cached", trial.cached);
  take(own, "started_s", trial.started_s);
  take(own, "reason", trial.reason);
  trial.settings = taken(own, layout.settings);
  trial.details = std::move(own);
  return trial;
}

Json unwrap_trial(const RunLayout& layout, const RunTrial& trial) {
  Json own = trial.details.is_object() ? trial.details : Json::object();
  own["id"] = trial.id;
  own["key"] = trial.key;
  own["stage"] = trial.stage;
  own["cached"] = trial.cached;
  own["started_s"] = trial.started_s;
  own["reason"] = trial.reason;
  own[std::string(layout.settings)] = trial.settings;
  return own;
}

}  // namespace

RL_DEFINE_JSON(RunLine, subject, provider, device, objective, decision, answer, value)
RL_DEFINE_JSON(RunTrial, id, key, stage, settings, cached, started_s, reason, details)
RL_DEFINE_JSON(Run, RL_RUN_ENVELOPE, kind, line, request, environments, trials, answer, details)

bool is_simulated(std::string_view kind, const RunLine& line) {
  // As model_name and the summary of a bench run begin.
  return (kind == "tune" && line.subject.rfind("synthetic:", 0) == 0) ||
         (kind == "bench" && line.subject.rfind("synthetic ", 0) == 0);
}

Run wrap_run(const RunLayout& layout, Json own, RunLine line) {
  Run run;
  run.kind = layout.kind;
  run.line = std::move(line);
  take(own, "id", run.id);
  take(own, "command_line", run.command_line);
  take(own, "started_utc", run.started_utc);
  take(own, "finished_utc", run.finished_utc);
  take(own, "duration_s", run.duration_s);
  take(own, "interrupted", run.interrupted);
  take(own, "notes", run.notes);
  run.request = taken(own, "request");
  run.answer = taken(own, layout.answer);
  if (auto environment = taken(own, "environment"); !environment.is_null())
    run.environments.push_back(environment.get<Environment>());
  for (auto& trial : taken(own, "trials")) run.trials.push_back(wrap_trial(layout, std::move(trial)));
  run.details = std::move(own);
  return run;
}

Json unwrap_run(const RunLayout& layout, const Run& run) {
  Json own = run.details.is_object() ? run.details : Json::object();
  own["id"] = run.id;
  own["command_line"] = run.command_line;
  own["started_utc"] = run.started_utc;
  own["finished_utc"] = run.finished_utc;
  own["duration_s"] = run.duration_s;
  own["interrupted"] = run.interrupted;
  own["notes"] = run.notes;
  if (!run.request.is_null()) own["request"] = run.request;
  own[std::string(layout.answer)] = run.answer;
  if (!run.environments.empty()) own["environment"] = run.environments.front();
  auto& trials = own["trials"] = Json::array();
  for (const auto& trial : run.trials) trials.push_back(unwrap_trial(layout, trial));
  return own;
}

}  // namespace ridgeline::schema
