// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "schema/message.hpp"

namespace ridgeline::campaign {

/// Notes on the transforms that take at least a tenth of a sample's time, in the order given; a single one that says so
/// if none does. `transforms`: name and ms of each; none: the data set does not show them. `workers`: of the loader, in
/// which they were timed; 0: in the training process.
[[nodiscard]] std::vector<schema::Message> loader_cost(const std::vector<std::pair<std::string, double>>& transforms,
                                                       double sample_ms, int workers = 0);

}  // namespace ridgeline::campaign
