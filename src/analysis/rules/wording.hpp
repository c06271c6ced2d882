// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

/// How the finding begins that says by how much the machine's speed changed.
inline constexpr std::string_view kUneven = "The machine was uneven";

/// "3.1 % faster", "1.82x as fast", "1.80x slower"; "equally fast" within 0.05 %. ratio above 1 is faster.
[[nodiscard]] std::string effect_text(double ratio);
/// The same of a comparison: "faster" or "slower" alone where its interval is too wide for a ratio (is_too_wide).
[[nodiscard]] std::string effect_text(const schema::Comparison& comparison);
/// The same before what it is compared with: "3.1 % faster than", "1.82x as fast as".
[[nodiscard]] std::string effect_against(const schema::Comparison& comparison);

/// "ratio 1.82, 95 % interval 1.79 to 1.85"; "too few measurements for a ratio" where it is too wide.
[[nodiscard]] std::string interval_text(const schema::Comparison& comparison);

/// "trial 7", "trials 3 and 7", "trials 1, 2, 3 and 4 more".
[[nodiscard]] std::string trials_text(const std::vector<int>& ids);

/// "execution_mode=parallel", or "execution_mode unset" when the configuration leaves it at the runtime's default.
[[nodiscard]] std::string setting_text(const schema::Configuration& configuration, const std::string& key);

}  // namespace ridgeline::analysis
