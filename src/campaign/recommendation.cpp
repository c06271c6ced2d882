// SPDX-License-Identifier: Apache-2.0
#include "campaign/recommendation.hpp"

#include "schema/catalog.hpp"

namespace ridgeline::campaign {

schema::Configuration settings_to_write(const schema::TuneRun& run) {
  schema::Configuration wanted;
  if (!run.verdict || run.verdict->decision != schema::Decision::change) return wanted;
  const auto& recommended = run.verdict->configuration;
  for (const auto& key : schema::differing_keys(recommended, run.current)) {
    if (const auto value = schema::effective_value(recommended, key)) wanted.set(key, *value);
  }
  return wanted;
}

std::vector<std::string> settings_to_remove(const schema::TuneRun& run) {
  std::vector<std::string> keys;
  if (!run.verdict || run.verdict->decision != schema::Decision::change) return keys;
  for (const auto& key : schema::differing_keys(run.verdict->configuration, run.current)) {
    if (!schema::effective_value(run.verdict->configuration, key)) keys.push_back(key);
  }
  return keys;
}

}  // namespace ridgeline::campaign
