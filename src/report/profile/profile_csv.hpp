// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "schema/message_renderer.hpp"
#include "schema/profile.hpp"

namespace ridgeline::report {

/// Every table of a profile as CSV (RFC 4180, lines end with "\n"): file name and content. Times in nanoseconds,
/// counters in their unit; what is unknown is empty.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> profile_csv(const schema::MessageRenderer& words,
                                                                           const schema::ProfileRun& run);

}  // namespace ridgeline::report
