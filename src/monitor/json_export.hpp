// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "monitor/snapshot.hpp"

namespace ridgeline::monitor {

/// Every key ends in its unit; what is not known is null. Bytes and counts are whole numbers.
[[nodiscard]] base::Json json_of(const Snapshot& snapshot);

}  // namespace ridgeline::monitor
