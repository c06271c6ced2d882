// SPDX-License-Identifier: Apache-2.0
#include "analysis/rules/wording.hpp"

#include "analysis/comparison_text.hpp"
#include "analysis/messages.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::analysis {

schema::Message effect_of(double ratio) {
  const double times = ratio >= 1 ? ratio : 1 / ratio;
  const bool faster = ratio >= 1;
  if (times < 1.0005) return messages::effect({.times = {}, .by = {}, .faster = faster});
  if (times < kTimesFrom) return messages::effect({.times = {}, .by = times - 1, .faster = faster});
  return messages::effect({.times = times, .by = {}, .faster = faster});
}

schema::Message effect_of(const schema::Comparison& comparison) {
  if (!is_too_wide(comparison)) return effect_of(comparison.ratio);
  if (comparison.low > 1 || comparison.high < 1) return messages::effect_direction(comparison.low > 1);
  return messages::effect_unknown();
}

schema::Message interval_of(const schema::Comparison& comparison) {
  const auto percentile = lower_percentile(comparison);
  return messages::interval({.few = is_too_wide(comparison),
                             .ratio = comparison.ratio,
                             .low = comparison.low,
                             .high = comparison.high,
                             .percentile = percentile == kMedian ? std::nullopt : percentile,
                             .median = percentile == kMedian});
}

schema::Message setting_of(const schema::Configuration& configuration, const std::string& key) {
  const auto value = schema::effective_value(configuration, key);
  return messages::setting({.key = key,
                            .unset = !value,
                            .value = value ? value->to_text() : "",
                            .by_default = value && !configuration.contains(key)});
}

}  // namespace ridgeline::analysis
