// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "analysis/profile_comparison.hpp"

namespace ridgeline::report {

/// What differs between two profiles, line by line, the most telling first.
[[nodiscard]] std::vector<std::string> profile_comparison_lines(const analysis::ProfileComparison& found);

}  // namespace ridgeline::report
