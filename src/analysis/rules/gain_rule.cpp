// SPDX-License-Identifier: Apache-2.0
// What the run as a whole gained.
#include <fmt/format.h>

#include "analysis/rules/rule.hpp"
#include "analysis/rules/wording.hpp"
#include "base/text.hpp"

namespace ridgeline::analysis {
namespace {

std::string cost_text(const RankedTrial& ranked, schema::Objective objective) {
  if (objective == schema::Objective::throughput)
    return fmt::format("{}/s", base::format_count(ranked.summary.throughput_per_s));
  return base::format_duration(ranked.cost.value);
}

std::string numbers(const Evidence& evidence) {
  const auto* chosen = evidence.chosen;
  const auto* reference = evidence.reference;
  const auto* what = evidence.run.objective == schema::Objective::latency ? "median"
                     : evidence.run.objective == schema::Objective::p99   ? "tail latency"
                                                                          : "throughput";
  std::string text;
  const auto& gain = evidence.run.verdict->gain;
  if (gain) text = fmt::format("{}, {} interleaved quads", interval_text(*gain), gain->quads);
  if (chosen == nullptr || reference == nullptr || chosen == reference) return text;
  return fmt::format("{}{}{} {} (trial {}) against {} (trial {})", text, text.empty() ? "" : "; ", what,
                     cost_text(*chosen, evidence.run.objective), chosen->trial->id,
                     cost_text(*reference, evidence.run.objective), reference->trial->id);
}

}  // namespace

std::vector<Finding> gain_rule(const Evidence& evidence) {
  const auto& run = evidence.run;
  if (!run.verdict) return {};
  Finding finding;
  finding.kind = FindingKind::gain;
  switch (run.verdict->decision) {
    case schema::Decision::change:
      finding.title = run.verdict->gain
                          ? fmt::format("{} is {} than the current configuration", run.verdict->configuration.to_text(),
                                        effect_text(run.verdict->gain->ratio))
                          : fmt::format("{} is the best configuration found", run.verdict->configuration.to_text());
      finding.advice = fmt::format("Apply it with: ridgeline apply {} --config FILE", run.id);
      break;
    case schema::Decision::keep:
      finding.title = fmt::format("Keep what you have: nothing tried beats it by {:g} % or more", run.min_effect * 100);
      break;
    case schema::Decision::none:
      finding.title = "No recommendation: no trial ran to the end and met the constraints";
      finding.advice = "See the failures and constraints below; relax a constraint or fix the first failure";
      break;
  }
  finding.evidence = numbers(evidence);
  if (finding.evidence.empty()) finding.evidence = run.verdict->reason;
  return {finding};
}

}  // namespace ridgeline::analysis
