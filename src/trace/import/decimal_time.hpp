// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ridgeline::trace {

/// Microseconds with decimals, as JSON has them, in whole nanoseconds, rounded; through no floating-point number, as
/// those of today's clocks have more digits than a double. nullopt: not such a number, or outside 64 bits.
[[nodiscard]] std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds);

}  // namespace ridgeline::trace
