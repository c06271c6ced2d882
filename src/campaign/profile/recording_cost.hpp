// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/message.hpp"
#include "trace/record/recorded_process.hpp"

namespace ridgeline::campaign {

/// What recording cost per step, of the process in which it was most; or that it is not known.
[[nodiscard]] schema::Message recording_cost(const std::vector<trace::RecordedProcess>& processes);

}  // namespace ridgeline::campaign
