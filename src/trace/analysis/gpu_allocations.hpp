// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Rows of Trace::allocations by process and GPU, each in order of time, what was held before the recording first.
/// Those of the host are in none.
[[nodiscard]] std::map<std::pair<std::int64_t, std::int32_t>, std::vector<std::size_t>> gpu_allocations(
    const Trace& trace);

}  // namespace ridgeline::trace
