// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/sweep.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

/// B against A by their values of an objective that has no ratio, as some of them are 0 or below. `min_effect` is in
/// the objective's own unit. The rounds of a sweep are processes of their own, so that their scatter holds what single
/// processes differ by, and nothing is added for it. Inconclusive below two values a side.
struct SweepComparison {
  schema::SweepDifference difference;
  schema::Verdict verdict = schema::Verdict::inconclusive;  ///< faster: B is better
};
[[nodiscard]] SweepComparison compare_values(const schema::SweepObjective& objective, const std::vector<double>& a,
                                             const std::vector<double>& b, double min_effect);

}  // namespace ridgeline::analysis
