// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "monitor/process_view.hpp"
#include "monitor/snapshot.hpp"

namespace ridgeline::monitor {

/// A key whose value has a unit ends in it; what is not known is null. Bytes and counts are whole numbers. Processes as
/// `order` has them.
[[nodiscard]] base::Json json_of(const Snapshot& snapshot, const ProcessOrder& order = {});

}  // namespace ridgeline::monitor
