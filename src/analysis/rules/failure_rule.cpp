// SPDX-License-Identifier: Apache-2.0
// Failed trials grouped by cause, with the setting that all of a group share and no successful trial has.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "analysis/accuracy.hpp"
#include "analysis/failure_memory.hpp"
#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"
#include "schema/message_shape.hpp"

namespace ridgeline::analysis {
namespace {

using schema::TrialStatus;

messages::FailedTrialsStatus word_of(TrialStatus status) {
  using Word = messages::FailedTrialsStatus;
  switch (status) {
    case TrialStatus::timeout: return Word::timeout;
    case TrialStatus::crashed: return Word::crashed;
    case TrialStatus::out_of_memory: return Word::out_of_memory;
    case TrialStatus::unsupported: return Word::unsupported;
    case TrialStatus::rejected_accuracy: return Word::rejected_accuracy;
    case TrialStatus::invalid: return Word::invalid;
    default: return Word::failed;
  }
}

schema::Message status_advice(TrialStatus status) {
  switch (status) {
    case TrialStatus::timeout: return messages::raise_time();
    case TrialStatus::crashed: return messages::reproduce_crash();
    case TrialStatus::out_of_memory: return messages::lower_batch();
    case TrialStatus::rejected_accuracy: return messages::accept_error();
    default: return {};
  }
}

struct FailureGroup {
  std::vector<const schema::TunedTrial*> trials;
  schema::Message message;
  schema::Message memory;  ///< memory_found of the first trial that has any
  int memory_of = 0;       ///< that trial
  bool memory_was_taken = false;
};

schema::Message evidence_of(const FailureGroup& group, const std::vector<int>& ids) {
  return messages::failed_trials_evidence(
      {.trials = ids,
       .what = group.message,
       .memory = group.memory,
       .trial = ids.size() > 1 && !group.memory.empty() ? std::optional(group.memory_of) : std::nullopt});
}

schema::Message advice_of(TrialStatus status, const FailureGroup& group) {
  if (group.memory_was_taken) return messages::retry_without_others();
  const schema::Value* limit = nullptr;  // the widest of those that were too tight
  for (const auto* trial : group.trials)
    if (const auto* set = trial->configuration.find("gpu_mem_limit_gb");
        set != nullptr && (limit == nullptr || set->as_number() > limit->as_number()))
      limit = set;
  if (status != TrialStatus::out_of_memory || limit == nullptr) return status_advice(status);
  return messages::raise_memory_limit(limit->to_text());
}

/// "execution_mode=parallel", or "" when no single setting tells the failures from the successes.
std::string common_setting(const FailureGroup& group, const Evidence& evidence) {
  for (const auto& [key, value] : group.trials.front()->configuration.values()) {
    const auto has = [&key = key, &value = value](const schema::Configuration& configuration) {
      const auto* other = configuration.find(key);
      return other != nullptr && *other == value;
    };
    const bool in_all = std::all_of(group.trials.begin(), group.trials.end(),
                                    [&](const auto* trial) { return has(trial->configuration); });
    const bool in_none = std::none_of(evidence.ranking.begin(), evidence.ranking.end(),
                                      [&](const auto& ranked) { return has(ranked.trial->configuration); });
    if (in_all && in_none) return fmt::format("{}={}", key, value.to_text());
  }
  return "";
}

}  // namespace

std::vector<Finding> failure_rule(const Evidence& evidence) {
  std::map<std::tuple<TrialStatus, std::string>, FailureGroup> groups;
  for (const auto& trial : evidence.run.trials) {
    const auto at = evidence.outcomes.find(trial.key);
    if (at == evidence.outcomes.end() || at->second.status == TrialStatus::ok || is_refused_graph(trial, at->second))
      continue;
    const auto& outcome = at->second;
    auto message = outcome.failure ? outcome.failure->message : schema::Message();
    if (message.empty() && outcome.output_error)
      message = accuracy_fault(evidence.run, outcome).value_or(schema::Message());
    auto& group = groups[{outcome.status, base::dump_json(schema::shape_of(message))}];
    if (group.trials.empty()) group.message = std::move(message);
    group.trials.push_back(&trial);
    group.memory_was_taken = group.memory_was_taken || memory_was_taken(outcome);
    if (!group.memory.empty()) continue;
    group.memory = memory_found(outcome);
    group.memory_of = trial.id;
  }
  std::vector<Finding> findings;
  for (const auto& [cause, group] : groups) {
    const auto status = std::get<TrialStatus>(cause);
    std::vector<int> ids;
    for (const auto* trial : group.trials) ids.push_back(trial->id);
    const auto setting = evidence.ranking.empty() ? std::string() : common_setting(group, evidence);
    findings.push_back(
        {FindingKind::failure,
         messages::failed_trials(
             {.count = static_cast<std::int64_t>(ids.size()), .status = word_of(status), .setting = setting}),
         evidence_of(group, ids), advice_of(status, group)});
  }
  return findings;
}

}  // namespace ridgeline::analysis
