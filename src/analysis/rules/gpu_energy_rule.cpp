// SPDX-License-Identifier: Apache-2.0
// Energy an item, of the whole card over the timed window.
#include <fmt/format.h>

#include "analysis/rules/rule.hpp"

namespace ridgeline::analysis {
namespace {

std::optional<double> energy_of(const RankedTrial* ranked) {
  if (ranked == nullptr) return std::nullopt;
  return metric_value(*ranked->outcome->measurement, ranked->summary, "gpu_energy_mj_per_item");
}

}  // namespace

std::vector<Finding> gpu_energy_rule(const Evidence& evidence) {
  /// The driver's counter follows power by tens of milliseconds; smaller differences are its own.
  constexpr double kWorthSaying = 0.05;
  const auto now = energy_of(evidence.reference);
  const auto then = energy_of(evidence.chosen);
  if (!now || !then || *now <= 0 || *then <= 0 || evidence.reference == evidence.chosen) return {};
  const double ratio = *then / *now;
  if (ratio > 1 - kWorthSaying && ratio < 1 + kWorthSaying) return {};
  return {{ratio < 1 ? FindingKind::gain : FindingKind::limit,
           fmt::format("An item takes {:.0f} % {} energy than before", 100 * (ratio < 1 ? 1 - ratio : ratio - 1),
                       ratio < 1 ? "less" : "more"),
           fmt::format("{:.3g} mJ (trial {}) against {:.3g} mJ (trial {}), the whole card, idle power included", *then,
                       evidence.chosen->trial->id, *now, evidence.reference->trial->id),
           ""}};
}

}  // namespace ridgeline::analysis
