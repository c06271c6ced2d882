// SPDX-License-Identifier: Apache-2.0
// Trials that differ from the current configuration or the defaults in exactly one setting, changed on its own.
#include <algorithm>
#include <map>

#include "analysis/comparison.hpp"
#include "analysis/comparison_text.hpp"
#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"
#include "analysis/rules/wording.hpp"
#include "schema/messages.hpp"

namespace ridgeline::analysis {
namespace {

using schema::Verdict;

struct Effect {
  const RankedTrial* trial = nullptr;
  const RankedTrial* against = nullptr;
  schema::Comparison comparison;
};

/// Effects by parameter key, in trial order.
std::map<std::string, std::vector<Effect>> single_effects(const Evidence& evidence) {
  std::vector<const RankedTrial*> references;
  if (evidence.reference != nullptr) references.push_back(evidence.reference);
  for (const auto& ranked : evidence.ranking)
    if (ranked.trial->configuration.empty() && &ranked != evidence.reference) references.push_back(&ranked);
  std::map<std::string, std::vector<Effect>> effects;
  for (const auto& ranked : evidence.ranking)
    for (const auto* reference : references) {
      const auto keys = schema::differing_keys(ranked.trial->configuration, reference->trial->configuration);
      // The defaults as a trial against the current configuration say what the current setting does, not the default.
      if (keys.size() != 1 || ranked.trial->configuration.empty()) continue;
      effects[keys.front()].push_back(
          {&ranked, reference,
           compare_separate(*reference->outcome->measurement, *ranked.outcome->measurement,
                            evidence.run.request.objective, evidence.run.request.min_effect)});
    }
  for (auto& [key, list] : effects)
    std::sort(list.begin(), list.end(),
              [](const auto& a, const auto& b) { return a.trial->trial->id < b.trial->trial->id; });
  return effects;
}

schema::Message ratio_of(const std::string& key, const Effect& effect) {
  const auto& found = effect.comparison;
  return messages::ratio_of_setting({.setting = setting_of(effect.trial->trial->configuration, key),
                                     .few = is_too_wide(found),
                                     .ratio = found.ratio,
                                     .low = found.low,
                                     .high = found.high,
                                     .trial = effect.trial->trial->id});
}

Finding harmful(const std::string& key, const Effect& worst) {
  const auto setting = setting_of(worst.trial->trial->configuration, key);
  const int trial = worst.trial->trial->id;
  return {FindingKind::harmful,
          messages::made_it({.setting = setting, .effect = effect_of(worst.comparison), .trial = trial}),
          messages::measured_apart(
              {.interval = interval_of(worst.comparison), .trial = trial, .other = worst.against->trial->id}),
          messages::do_not_set(setting)};
}

}  // namespace

std::vector<Finding> single_setting_rule(const Evidence& evidence) {
  if (evidence.uneven) return {};
  std::vector<Finding> findings;
  std::vector<std::string> idle;
  std::vector<schema::Message> numbers;
  for (const auto& [key, effects] : single_effects(evidence)) {
    const auto worst = std::min_element(effects.begin(), effects.end(), [](const auto& a, const auto& b) {
      return a.comparison.ratio < b.comparison.ratio;
    });
    if (worst->comparison.verdict == Verdict::slower) findings.push_back(harmful(key, *worst));
    const bool all_idle = std::all_of(effects.begin(), effects.end(), [&](const auto& effect) {
      // Trials minutes apart seldom prove equality; a ratio inside the minimum effect that noise explains is enough
      // here.
      const double ratio = effect.comparison.ratio;
      const bool small = std::max(ratio, 1 / ratio) < 1 + evidence.run.request.min_effect;
      return small && effect.comparison.verdict != Verdict::faster && effect.comparison.verdict != Verdict::slower;
    });
    if (!all_idle) continue;
    idle.push_back(key);
    for (const auto& effect : effects) numbers.push_back(ratio_of(key, effect));
  }
  if (!idle.empty())
    findings.push_back({FindingKind::no_effect, messages::no_difference_alone(idle), schema::messages::several(numbers),
                        messages::leave_at_default()});
  return findings;
}

}  // namespace ridgeline::analysis
