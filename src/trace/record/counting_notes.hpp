// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/message.hpp"
#include "trace/record/recorded_process.hpp"

namespace ridgeline::trace {

/// Why bytes of launches were not counted, or not all of them, and what to do: a line for each reason that some of the
/// processes give.
[[nodiscard]] std::vector<schema::Message> counting_notes(const std::vector<RecordedProcess>& processes);

}  // namespace ridgeline::trace
