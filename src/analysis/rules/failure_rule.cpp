// SPDX-License-Identifier: Apache-2.0
// Failed trials grouped by cause, with the setting that all of a group share and no successful trial has.
#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "analysis/accuracy.hpp"
#include "analysis/failure_memory.hpp"
#include "analysis/rules/rule.hpp"
#include "analysis/rules/wording.hpp"

namespace ridgeline::analysis {
namespace {

using schema::TrialStatus;

constexpr const char* kTakenAdvice =
    "Run the same command again once the other processes have left the GPU, which tries these again, or lower the "
    "batch or parallel_sessions";

const char* status_text(TrialStatus status) {
  switch (status) {
    case TrialStatus::ok: return "ran";
    case TrialStatus::failed: return "failed";
    case TrialStatus::timeout: return "ran into the time limit";
    case TrialStatus::crashed: return "crashed";
    case TrialStatus::out_of_memory: return "ran out of memory";
    case TrialStatus::unsupported: return "are not supported by this runtime";
    case TrialStatus::rejected_accuracy: return "changed the outputs beyond the tolerance";
    case TrialStatus::invalid: return "are illegal for this runtime";
  }
  return "failed";
}

const char* status_advice(TrialStatus status) {
  switch (status) {
    case TrialStatus::timeout:
      return "If they are merely slow, raise --max-time; a hang is worth a report to the runtime";
    case TrialStatus::crashed: return "Reproduce one with: ridgeline rerun TRIAL; do not use these settings";
    case TrialStatus::out_of_memory: return "Lower the batch or parallel_sessions, or give the machine more memory";
    case TrialStatus::rejected_accuracy:
      return "Accept the output error with --accuracy-tolerance only if your own metric allows it";
    default: return "";
  }
}

/// The message with every number blanked, so that the same cause with other sizes is one group.
std::string shape_of(const std::string& message) {
  std::string shape;
  for (const char c : message) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit)
      shape += c;
    else if (shape.empty() || shape.back() != '#')
      shape += '#';
  }
  return shape;
}

struct FailureGroup {
  std::vector<const schema::TunedTrial*> trials;
  std::string message;
  std::string hint;
  std::string memory;  ///< memory_found of the first trial that has any
  int memory_of = 0;   ///< that trial
  bool memory_was_taken = false;
};

std::string evidence_text(const FailureGroup& group, const std::vector<int>& ids) {
  auto text = trials_text(ids);
  if (!group.message.empty()) text += ": " + base::error_line(group.message, group.hint);
  if (!group.memory.empty())
    text += ids.size() == 1 ? "; " + group.memory : fmt::format("; trial {}: {}", group.memory_of, group.memory);
  return text;
}

std::string advice_text(TrialStatus status, const FailureGroup& group) {
  if (group.memory_was_taken) return kTakenAdvice;
  const schema::Value* limit = nullptr;  // the widest of those that were too tight
  for (const auto* trial : group.trials)
    if (const auto* set = trial->configuration.find("gpu_mem_limit_gb");
        set != nullptr && (limit == nullptr || set->as_number() > limit->as_number()))
      limit = set;
  if (status != TrialStatus::out_of_memory || limit == nullptr) return status_advice(status);
  return fmt::format(
      "Raise gpu_mem_limit_gb={} or leave it out, lower the batch or parallel_sessions, or give the machine more "
      "memory",
      limit->to_text());
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
    std::string message = outcome.failure ? outcome.failure->message : "";
    if (message.empty() && outcome.output_error) message = accuracy_fault(evidence.run, outcome).value_or("");
    auto& group = groups[{outcome.status, shape_of(message)}];
    if (group.trials.empty()) {
      group.message = message;
      group.hint = outcome.failure ? outcome.failure->hint : "";
    }
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
    findings.push_back({FindingKind::failure,
                        fmt::format("{} {} {}{}", ids.size(), ids.size() == 1 ? "configuration" : "configurations",
                                    ids.size() == 1 && std::string_view(status_text(status)).substr(0, 4) == "are "
                                        ? "is " + std::string(status_text(status) + 4)
                                        : std::string(status_text(status)),
                                    setting.empty() ? "" : fmt::format(", and only with {}", setting)),
                        evidence_text(group, ids), advice_text(status, group)});
  }
  return findings;
}

}  // namespace ridgeline::analysis
