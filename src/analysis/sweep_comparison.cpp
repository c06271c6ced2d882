// SPDX-License-Identifier: Apache-2.0
#include "analysis/sweep_comparison.hpp"

#include <cmath>

#include "stats/mean.hpp"
#include "stats/two_samples.hpp"

namespace ridgeline::analysis {

SweepComparison compare_values(const schema::SweepObjective& objective, const std::vector<double>& a,
                               const std::vector<double>& b, double min_effect) {
  SweepComparison out;
  auto& difference = out.difference;
  difference.metric = objective.metric;
  difference.maximize = objective.maximize;
  const auto found = stats::welch_difference(a, b);
  difference.has_interval = found.has_value();
  const double value = stats::mean(b) - stats::mean(a);
  difference.value = found.value_or(stats::Estimate{value, value, value});
  if (!found) return out;
  const double low = objective.maximize ? found->low : -found->high;
  const double high = objective.maximize ? found->high : -found->low;
  const double gain = objective.maximize ? value : -value;
  const bool apart = low > 0 || high < 0;
  if (apart && std::abs(gain) >= min_effect)
    out.verdict = gain > 0 ? schema::Verdict::faster : schema::Verdict::slower;
  else if (apart || (low > -min_effect && high < min_effect) || low == high)
    out.verdict = schema::Verdict::no_difference;
  return out;
}

}  // namespace ridgeline::analysis
