// SPDX-License-Identifier: Apache-2.0
// Leave-one-out: what each setting of the winner contributes.
#include <fmt/format.h>

#include "analysis/comparison.hpp"
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
    const auto setting = setting_text(pair.a, pair.setting);
    const bool dropped = was_dropped(evidence.run, pair);
    const auto* trial = trial_of(evidence.ranking, pair.a);
    const auto finalist =
        trial != nullptr ? fmt::format("the best finalist (trial {})", trial->id) : std::string("the best finalist");
    Finding finding;
    finding.evidence =
        fmt::format("{}, {} interleaved ABBA rounds of {} with and without it{}", interval_text(contribution),
                    contribution.abba_rounds, finalist, dropped ? "; dropped from the recommendation" : "");
    switch (contribution.verdict) {
      case Verdict::faster:
        // Where it is not needed for the gain it helped beside something else that is not recommended either.
        finding.kind = dropped ? FindingKind::no_effect : FindingKind::gain;
        finding.title = fmt::format("{} makes {} {}{}", setting, finalist, effect_text(contribution),
                                    dropped ? ", but only beside what was dropped" : "");
        break;
      case Verdict::slower:
        finding.kind = FindingKind::harmful;
        finding.title = fmt::format("{} makes {} {}", setting, finalist, effect_text(contribution));
        finding.advice = fmt::format("Run again with {} fixed at its old value by --set", pair.setting);
        break;
      case Verdict::no_difference:
        finding.kind = FindingKind::no_effect;
        finding.title = fmt::format("{} adds nothing to {}", setting, finalist);
        finding.advice = "Leave it out if you prefer fewer settings";
        break;
      case Verdict::inconclusive:
        finding.kind = FindingKind::quality;
        finding.title =
            fmt::format("What {} contributes to {} could not be distinguished from noise", setting, finalist);
        finding.advice = "Repeat on a quieter machine or with a longer --max-time";
        break;
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace ridgeline::analysis
