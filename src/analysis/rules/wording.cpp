// SPDX-License-Identifier: Apache-2.0
#include "analysis/rules/wording.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"

#include "analysis/comparison_text.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::analysis {

std::string effect_text(double ratio) {
  const double times = ratio >= 1 ? ratio : 1 / ratio;
  if (times < 1.0005) return "equally fast";
  if (times < 1.2) return fmt::format("{:.1f} % {}", (times - 1) * 100, ratio >= 1 ? "faster" : "slower");
  return fmt::format("{:.{}f}x {}", times, times < 10 ? 2 : 0, ratio >= 1 ? "as fast" : "slower");
}

std::string effect_text(const schema::Comparison& comparison) {
  if (!is_too_wide(comparison)) return effect_text(comparison.ratio);
  return comparison.low > 1 ? "faster" : comparison.high < 1 ? "slower" : std::string(kTooFewMeasurements);
}

std::string effect_against(const schema::Comparison& comparison) {
  return effect_text(comparison) + (is_too_wide(comparison) || comparison.ratio < 1.2 ? " than" : " as");
}

std::string interval_text(const schema::Comparison& comparison) {
  if (is_too_wide(comparison)) return fmt::format("{} for a ratio{}", kTooFewMeasurements, tail_note(comparison));
  return fmt::format("ratio {:.3f}, 95 % interval {:.3f} to {:.3f}{}", comparison.ratio, comparison.low,
                     comparison.high, tail_note(comparison));
}

std::string trials_text(const std::vector<int>& ids) {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ids.size() && i < kMost; ++i) names.push_back(fmt::format("{}", ids[i]));
  if (ids.size() > kMost) names.push_back(fmt::format("{} more", ids.size() - kMost));
  return fmt::format("{} {}", ids.size() == 1 ? "trial" : "trials", base::listed(names));
}

std::string setting_text(const schema::Configuration& configuration, const std::string& key) {
  const auto value = schema::effective_value(configuration, key);
  if (!value) return key + " unset";
  return fmt::format("{}={}{}", key, value->to_text(), configuration.contains(key) ? "" : " (default)");
}

}  // namespace ridgeline::analysis
