// SPDX-License-Identifier: Apache-2.0
// Leave-one-out: what each setting of the winner contributes.
#include "analysis/comparison.hpp"
#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"
#include "analysis/rules/wording.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::analysis {

using schema::Verdict;

std::vector<Finding> contribution_rule(const Evidence& evidence) {
  if (!evidence.run.verdict) return {};
  std::vector<Finding> findings;
  for (const auto& pair : evidence.run.pairs) {
    if (pair.purpose != schema::PairPurpose::leave_one_out || !pair.comparison) continue;
    const auto contribution = inverted(*pair.comparison);  // above 1: the finalist is better with the setting
    const auto setting = setting_of(pair.a, pair.setting);
    const bool dropped = was_dropped(evidence.run, pair);
    const auto* finalist = trial_of(evidence.ranking, pair.a);
    const auto trial = finalist != nullptr ? std::optional(finalist->id) : std::nullopt;
    Finding finding;
    finding.evidence = messages::contribution_evidence({.interval = interval_of(contribution),
                                                        .rounds = contribution.abba_rounds,
                                                        .trial = trial,
                                                        .dropped = dropped});
    switch (contribution.verdict) {
      case Verdict::faster:
        // Where it is not needed for the gain it helped beside something else that is not recommended either.
        finding.kind = dropped ? FindingKind::no_effect : FindingKind::gain;
        finding.title = messages::contribution(
            {.setting = setting, .trial = trial, .effect = effect_of(contribution), .dropped = dropped});
        break;
      case Verdict::slower:
        finding.kind = FindingKind::harmful;
        finding.title = messages::contribution(
            {.setting = setting, .trial = trial, .effect = effect_of(contribution), .dropped = false});
        finding.advice = messages::fix_at_old_value(pair.setting);
        break;
      case Verdict::no_difference:
        finding.kind = FindingKind::no_effect;
        finding.title = messages::contributes_nothing({.setting = setting, .trial = trial});
        finding.advice = messages::leave_it_out();
        break;
      case Verdict::inconclusive:
        finding.kind = FindingKind::quality;
        finding.title = messages::contribution_unclear({.setting = setting, .trial = trial});
        finding.advice = messages::repeat_quieter();
        break;
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace ridgeline::analysis
