// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/recommendation.hpp"

#include <algorithm>

#include "schema/catalog.hpp"
#include "search/relevance.hpp"

namespace ridgeline::campaign {
namespace {

bool concerns(const schema::TuneRun& run, const std::string& key) {
  if (key == "batch_size")
    return std::any_of(run.space.begin(), run.space.end(), [&](const auto& one) { return one.key == key; });
  const auto* param = schema::find_param(key);
  if (param == nullptr) return false;
  const auto is_of = [&](const std::string& provider) {
    return std::find(param->providers.begin(), param->providers.end(), provider) != param->providers.end();
  };
  if (param->providers.empty() || is_of(run.provider)) return true;
  if (!run.verdict) return false;
  const auto* candidate = schema::find_candidate(run.candidates, schema::candidate_of(run.verdict->configuration));
  return candidate != nullptr && is_of(candidate->provider);
}

std::vector<std::string> changed_keys(const schema::TuneRun& run, const schema::Configuration& current) {
  if (!run.verdict || run.verdict->decision != schema::Decision::change) return {};
  auto keys = schema::differing_keys(run.verdict->configuration, current);
  keys.erase(std::remove_if(keys.begin(), keys.end(), [&](const auto& key) { return !concerns(run, key); }),
             keys.end());
  return keys;
}

}  // namespace

schema::Configuration as_seen_by(const schema::TuneRun& run, const schema::Configuration& configuration) {
  schema::Configuration seen;
  for (const auto& [key, value] : configuration.values())
    if (concerns(run, key)) seen.set(key, value);
  return search::simplify(std::move(seen));
}

schema::Configuration settings_to_write(const schema::TuneRun& run, const schema::Configuration& current) {
  schema::Configuration wanted;
  for (const auto& key : changed_keys(run, current))
    if (const auto value = schema::effective_value(run.verdict->configuration, key)) wanted.set(key, *value);
  return wanted;
}

std::vector<std::string> settings_to_remove(const schema::TuneRun& run, const schema::Configuration& current) {
  std::vector<std::string> keys;
  for (const auto& key : changed_keys(run, current))
    if (!schema::effective_value(run.verdict->configuration, key)) keys.push_back(key);
  return keys;
}

}  // namespace ridgeline::campaign
