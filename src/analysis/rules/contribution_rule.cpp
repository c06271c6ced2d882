// SPDX-License-Identifier: Apache-2.0
// Leave-one-out: what each setting of the winner is worth.
#include <fmt/format.h>

#include "analysis/rules/rule.hpp"
#include "analysis/rules/wording.hpp"

namespace ridgeline::analysis {
namespace {

using schema::Verdict;

/// The comparison turned so that above 1 means the winner with the setting is better than without it.
schema::Comparison worth_of_setting(const schema::TunedPair& pair, const schema::Configuration& winner) {
  auto comparison = *pair.comparison;
  const auto* wanted = winner.find(pair.setting);
  const auto* in_b = pair.b.find(pair.setting);
  const bool winner_is_b = wanted == nullptr ? in_b == nullptr : in_b != nullptr && *in_b == *wanted;
  if (winner_is_b) return comparison;
  std::swap(comparison.low, comparison.high);
  comparison.low = 1 / comparison.low;
  comparison.high = 1 / comparison.high;
  comparison.ratio = 1 / comparison.ratio;
  if (comparison.verdict == Verdict::faster)
    comparison.verdict = Verdict::slower;
  else if (comparison.verdict == Verdict::slower)
    comparison.verdict = Verdict::faster;
  return comparison;
}

}  // namespace

std::vector<Finding> contribution_rule(const Evidence& evidence) {
  if (!evidence.run.verdict) return {};
  const auto& winner = evidence.run.verdict->configuration;
  std::vector<Finding> findings;
  for (const auto& pair : evidence.run.pairs) {
    if (pair.purpose != schema::PairPurpose::leave_one_out || !pair.comparison) continue;
    const auto worth = worth_of_setting(pair, winner);
    const auto setting = setting_text(winner, pair.setting);
    Finding finding;
    finding.evidence = fmt::format("{}, {} interleaved quads of the recommendation with and without it",
                                   interval_text(worth), worth.quads);
    switch (worth.verdict) {
      case Verdict::faster:
        finding.kind = FindingKind::gain;
        finding.title = fmt::format("{} makes the recommendation {}", setting, effect_text(worth.ratio));
        break;
      case Verdict::slower:
        finding.kind = FindingKind::harmful;
        finding.title = fmt::format("{} makes the recommendation {}", setting, effect_text(worth.ratio));
        finding.advice = fmt::format("Run again with {} fixed at its old value by --set", pair.setting);
        break;
      case Verdict::no_difference:
        finding.kind = FindingKind::no_effect;
        finding.title = fmt::format("{} adds nothing to the recommendation", setting);
        finding.advice = "Leave it out if you prefer fewer settings";
        break;
      case Verdict::inconclusive:
        finding.kind = FindingKind::quality;
        finding.title = fmt::format("What {} contributes could not be told from noise", setting);
        finding.advice = "Repeat on a quieter machine or with a longer --max-time";
        break;
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace ridgeline::analysis
