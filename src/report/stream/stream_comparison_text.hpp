// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "analysis/stream_comparison.hpp"
#include "schema/message_renderer.hpp"

namespace ridgeline::report {

/// For people, below the ratio of the figure that decides.
[[nodiscard]] std::vector<std::string> stream_comparison_lines(const schema::MessageRenderer& words,
                                                               const analysis::StreamComparison& found);

}  // namespace ridgeline::report
