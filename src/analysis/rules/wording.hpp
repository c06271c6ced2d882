// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "schema/message.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

/// From here on a ratio is a number of times, below it a percentage.
inline constexpr double kTimesFrom = 1.2;

/// "3.1 % faster", "1.82x as fast", "1.80x slower"; "equally fast" within 0.05 %. ratio above 1 is faster.
[[nodiscard]] schema::Message effect_of(double ratio);
/// The same of a comparison: "faster" or "slower" alone where its interval is too wide for a ratio (is_too_wide).
[[nodiscard]] schema::Message effect_of(const schema::Comparison& comparison);

/// "ratio 1.82, 95 % interval 1.79 to 1.85"; "too few measurements for a ratio" where it is too wide.
[[nodiscard]] schema::Message interval_of(const schema::Comparison& comparison);

/// "execution_mode=parallel", or "execution_mode unset" when the configuration leaves it at the runtime's default.
[[nodiscard]] schema::Message setting_of(const schema::Configuration& configuration, const std::string& key);

}  // namespace ridgeline::analysis
