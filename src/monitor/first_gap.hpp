// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "base/clock.hpp"

namespace ridgeline::monitor {

/// Rates need two looks. What GPM tells is steady from 10 ms on (benchmarks/nvml_calls); CPU time is counted in ticks
/// of 10 ms and wants more.
inline constexpr base::Nanoseconds kFirstGap = std::chrono::milliseconds(60);
inline constexpr base::Nanoseconds kLeastGap = std::chrono::milliseconds(20);
/// A single look is to take 150 ms at most, all in all.
inline constexpr base::Nanoseconds kSecondLookBy = std::chrono::milliseconds(80);

/// Time between the two looks of which the second is shown: kFirstGap, and less, down to kLeastGap, where the driver
/// took long to start. `spent`: from the program's start to the first look.
[[nodiscard]] constexpr base::Nanoseconds gap_after(base::Nanoseconds spent) {
  return std::clamp(kSecondLookBy - spent, kLeastGap, kFirstGap);
}

}  // namespace ridgeline::monitor
