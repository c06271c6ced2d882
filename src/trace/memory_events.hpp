// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ridgeline::trace {

// What events of memory are called in Chrome's JSON, where they are instants of the category "cpu_instant_event".
inline constexpr std::string_view kMemoryEvent =
    "[memory]";  ///< of the PyTorch profiler: allocated, or freed if negative
inline constexpr std::string_view kOutOfMemoryEvent = "[OutOfMemory]";  ///< likewise
inline constexpr std::string_view kReservedEvent = "[reserved]";        ///< our own: AllocationKind::reserved
inline constexpr std::string_view kHeldEvent = "[held]";                ///< our own: AllocationKind::held

}  // namespace ridgeline::trace
