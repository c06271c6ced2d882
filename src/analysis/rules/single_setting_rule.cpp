// SPDX-License-Identifier: Apache-2.0
// Trials that differ from the current configuration or the defaults in exactly one setting, changed on its own.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/comparison.hpp"
#include "analysis/comparison_text.hpp"
#include "analysis/rules/rule.hpp"
#include "analysis/rules/wording.hpp"
#include "base/text.hpp"

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
      effects[keys.front()].push_back({&ranked, reference,
                                       compare_separate(*reference->outcome->measurement, *ranked.outcome->measurement,
                                                        evidence.run.objective, evidence.run.min_effect)});
    }
  for (auto& [key, list] : effects)
    std::sort(list.begin(), list.end(),
              [](const auto& a, const auto& b) { return a.trial->trial->id < b.trial->trial->id; });
  return effects;
}

std::string ratio_text(const Effect& effect) {
  const auto& found = effect.comparison;
  const int id = effect.trial->trial->id;
  if (is_too_wide(found)) return fmt::format("{} (trial {})", kTooFewMeasurements, id);
  return fmt::format("{:.3f} ({:.3f} to {:.3f}, trial {})", found.ratio, found.low, found.high, id);
}

Finding harmful(const std::string& key, const Effect& worst) {
  const auto setting = setting_text(worst.trial->trial->configuration, key);
  return {FindingKind::harmful,
          fmt::format("{} made it {} (trial {})", setting, effect_text(worst.comparison), worst.trial->trial->id),
          fmt::format("{}, trial {} against trial {}, measured one after the other", interval_text(worst.comparison),
                      worst.trial->trial->id, worst.against->trial->id),
          fmt::format("Do not set {} for this model on this machine", setting)};
}

}  // namespace

std::vector<Finding> single_setting_rule(const Evidence& evidence) {
  if (evidence.uneven) return {};
  std::vector<Finding> findings;
  std::vector<std::string> idle;
  std::vector<std::string> numbers;
  for (const auto& [key, effects] : single_effects(evidence)) {
    const auto worst = std::min_element(effects.begin(), effects.end(), [](const auto& a, const auto& b) {
      return a.comparison.ratio < b.comparison.ratio;
    });
    if (worst->comparison.verdict == Verdict::slower) findings.push_back(harmful(key, *worst));
    const bool all_idle = std::all_of(effects.begin(), effects.end(), [&](const auto& effect) {
      // Trials minutes apart seldom prove equality; a ratio inside the minimum effect that noise explains is enough
      // here.
      const double ratio = effect.comparison.ratio;
      const bool small = std::max(ratio, 1 / ratio) < 1 + evidence.run.min_effect;
      return small && effect.comparison.verdict != Verdict::faster && effect.comparison.verdict != Verdict::slower;
    });
    if (!all_idle) continue;
    idle.push_back(key);
    for (const auto& effect : effects)
      numbers.push_back(
          fmt::format("{} {}", setting_text(effect.trial->trial->configuration, key), ratio_text(effect)));
  }
  if (!idle.empty())
    findings.push_back({FindingKind::no_effect,
                        fmt::format("No difference beyond noise on its own: {}", base::listed(idle)),
                        fmt::format("{}", fmt::join(numbers, "; ")), "Leave at the default"});
  return findings;
}

}  // namespace ridgeline::analysis
