// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/recommendation.hpp"

#include <algorithm>
#include <map>

#include "config/provider_patch.hpp"
#include "schema/catalog.hpp"
#include "search/relevance.hpp"

namespace ridgeline::campaign {
namespace {

/// The candidate that is recommended; nullptr: what the user has now.
const schema::Candidate* recommended_candidate(const schema::TuneRun& run) {
  if (!run.verdict) return nullptr;
  return schema::find_candidate(run.candidates, schema::candidate_of(run.verdict->configuration));
}

bool runtime_knows(const schema::RuntimeIdentity& runtime, const schema::ParamDef& param) {
  return runtime.name == "synthetic" || runtime.version.empty() || schema::is_known_to(param, runtime.version);
}

bool concerns(const schema::TuneRun& run, const std::string& key) {
  if (key == "batch_size")
    return std::any_of(run.space.begin(), run.space.end(), [&](const auto& one) { return one.key == key; });
  return schema::find_param(key) != nullptr && !why_left_alone(run, key);
}

}  // namespace

std::optional<std::string> why_left_alone(const schema::TuneRun& run, const std::string& key) {
  const auto* param = schema::find_param(key);
  if (param == nullptr) return std::nullopt;
  const auto* candidate = recommended_candidate(run);
  const bool of_candidate = candidate != nullptr && schema::is_for(*param, candidate->provider);
  if (!schema::is_for(*param, run.provider) && !of_candidate) {
    if (param->providers.empty()) return std::string("of another engine");
    return fmt::format("of provider {}", param->providers.front());
  }
  if (runtime_knows(run.runtime, *param) || (of_candidate && runtime_knows(candidate->runtime, *param)))
    return std::nullopt;
  return fmt::format("unknown to {} {}", run.runtime.name == "onnxruntime" ? "ONNX Runtime" : run.runtime.name,
                     run.runtime.version);
}

base::Result<void> check_unread(const schema::TuneRun& run, const std::vector<config::UnreadSetting>& unread) {
  for (const auto& one : unread)
    if (!why_left_alone(run, one.key)) return tl::unexpected(one.error);
  return {};
}

schema::Configuration as_seen_by(const schema::TuneRun& run, const schema::Configuration& configuration) {
  schema::Configuration seen;
  for (const auto& [key, value] : configuration.values())
    if (concerns(run, key)) seen.set(key, value);
  return search::simplify(std::move(seen));
}

std::vector<schema::SettingChange> changes_to(const schema::TuneRun& run, const schema::Configuration& in_file) {
  if (!run.verdict || run.verdict->decision != schema::Decision::change) return {};
  const auto& recommended = run.verdict->configuration;
  const auto wanted = as_seen_by(run, recommended);
  std::map<std::string, schema::SettingChange> changes;
  // A value may give meaning to one that the file has and that had none before.
  for (auto file = in_file;;) {
    const auto before = changes.size();
    for (const auto& key : schema::differing_keys(wanted, as_seen_by(run, file))) {
      if (changes.count(key) != 0) continue;
      schema::SettingChange change{key, std::nullopt, schema::effective_value(recommended, key)};
      if (const auto* now = in_file.find(key)) change.from = *now;
      // It is there, and means something once the others are.
      if (change.from && change.from == change.to) continue;
      if (change.to)
        file.set(key, *change.to);
      else
        file.unset(key);
      changes.emplace(key, std::move(change));
    }
    if (changes.size() == before) break;
  }
  std::vector<schema::SettingChange> out;
  for (auto& [key, change] : changes) out.push_back(std::move(change));
  return out;
}

schema::Configuration settings_to_write(const schema::TuneRun& run, const schema::Configuration& in_file) {
  schema::Configuration wanted;
  for (const auto& change : changes_to(run, in_file))
    if (change.to) wanted.set(change.key, *change.to);
  return wanted;
}

std::vector<std::string> settings_to_remove(const schema::TuneRun& run, const schema::Configuration& in_file) {
  std::vector<std::string> keys;
  for (const auto& change : changes_to(run, in_file))
    if (!change.to) keys.push_back(change.key);
  return keys;
}

void record_changes(schema::TuneRun& run) {
  if (!run.verdict) return;
  // What was asked for beside the file, a batch size for example, is in `current` only.
  auto now = run.current;
  for (const auto& [key, value] : run.in_file.values()) now.set(key, value);
  auto changes = changes_to(run, now);
  const auto* candidate = recommended_candidate(run);
  if (candidate != nullptr && !run.file_provider.empty() && run.verdict->decision == schema::Decision::change) {
    const auto spelled = config::spelled_like(run.file_provider, schema::provider_of(candidate->provider));
    if (spelled != run.file_provider)
      changes.push_back({"provider", schema::Value(run.file_provider), schema::Value(spelled)});
  }
  run.verdict->changes = std::move(changes);
}

}  // namespace ridgeline::campaign
