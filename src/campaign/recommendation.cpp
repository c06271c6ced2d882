// SPDX-License-Identifier: Apache-2.0
#include "campaign/recommendation.hpp"

#include "schema/catalog.hpp"

namespace ridgeline::campaign {

schema::Configuration settings_to_write(const schema::TuneRun& run) {
  schema::Configuration wanted;
  if (!run.verdict || run.verdict->decision != schema::Decision::change) return wanted;
  const auto& recommended = run.verdict->configuration;
  for (const auto& key : schema::differing_keys(recommended, run.current)) {
    if (const auto* value = recommended.find(key)) {
      wanted.set(key, *value);
      continue;
    }
    const auto* param = schema::find_param(key);
    if (param != nullptr && param->default_value) wanted.set(key, *param->default_value);
  }
  return wanted;
}

std::vector<std::string> settings_to_remove(const schema::TuneRun& run) {
  std::vector<std::string> keys;
  if (!run.verdict || run.verdict->decision != schema::Decision::change) return keys;
  for (const auto& key : schema::differing_keys(run.verdict->configuration, run.current)) {
    const auto* param = schema::find_param(key);
    if (!run.verdict->configuration.contains(key) && (param == nullptr || !param->default_value)) keys.push_back(key);
  }
  return keys;
}

}  // namespace ridgeline::campaign
