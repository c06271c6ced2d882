// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "analysis/profile_comparison.hpp"
#include "schema/message_renderer.hpp"

namespace ridgeline::report {

/// What differs between two profiles, line by line, the most telling first.
[[nodiscard]] std::vector<std::string> profile_comparison_lines(const schema::MessageRenderer& words,
                                                                const analysis::ProfileComparison& found);

}  // namespace ridgeline::report
