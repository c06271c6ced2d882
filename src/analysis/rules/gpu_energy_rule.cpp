// SPDX-License-Identifier: Apache-2.0
// Energy per item, of the whole card over the timed window.
#include "analysis/isolated.hpp"
#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"

namespace ridgeline::analysis {
namespace {

constexpr const char* kMetric = "gpu_energy_mj_per_item";

struct Energies {
  std::optional<double> now;
  std::optional<double> then;
  bool isolated = false;  ///< each alone in a process; else of the two trials
};

/// Trials are mostly too short for the counter; what was measured alone is long enough.
Energies energies_of(const Evidence& evidence) {
  const auto isolated = isolated_of(evidence.run, evidence.outcomes);
  if (isolated.recommended != nullptr && isolated.current != nullptr) {
    const Energies found{metric_value(*isolated.current, {}, kMetric), metric_value(*isolated.recommended, {}, kMetric),
                         true};
    if (found.now && found.then) return found;
  }
  const auto of_trial = [](const RankedTrial& ranked) {
    return metric_value(*ranked.outcome->measurement, ranked.summary, kMetric);
  };
  return {of_trial(*evidence.reference), of_trial(*evidence.chosen), false};
}

}  // namespace

std::vector<Finding> gpu_energy_rule(const Evidence& evidence) {
  /// The driver's counter follows power by tens of milliseconds; smaller differences are its own.
  constexpr double kWorthSaying = 0.05;
  if (evidence.reference == nullptr || evidence.chosen == nullptr || evidence.reference == evidence.chosen) return {};
  const auto [now, then, isolated] = energies_of(evidence);
  if (!now || !then || *now <= 0 || *then <= 0) return {};
  const double ratio = *then / *now;
  if (ratio > 1 - kWorthSaying && ratio < 1 + kWorthSaying) return {};
  return {{ratio < 1 ? FindingKind::gain : FindingKind::limit,
           messages::energy({.share = ratio < 1 ? 1 - ratio : ratio - 1, .less = ratio < 1}),
           messages::energy_evidence({.then = *then,
                                      .trial = isolated ? std::nullopt : std::optional(evidence.chosen->trial->id),
                                      .now = *now,
                                      .other = isolated ? std::nullopt : std::optional(evidence.reference->trial->id)}),
           {}}};
}

}  // namespace ridgeline::analysis
