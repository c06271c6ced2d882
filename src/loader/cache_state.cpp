// SPDX-License-Identifier: Apache-2.0
#include "loader/cache_state.hpp"

namespace ridgeline::loader {

double cold_share(const LoaderStatistics& before, const LoaderStatistics& after) noexcept {
  const auto& then = before.total.read.tally;
  const auto& now = after.total.read.tally;
  if (now.bytes == then.bytes) return 0;
  return static_cast<double>(now.cold_bytes - then.cold_bytes) / static_cast<double>(now.bytes - then.bytes);
}

CacheState cache_state(const LoaderStatistics& before, const LoaderStatistics& after) noexcept {
  constexpr double kWarm = 0.99;
  constexpr double kCold = 0.1;
  if (after.total.read.tally.bytes == before.total.read.tally.bytes) return CacheState::decoded;
  if (!after.resident_at_start) return CacheState::unknown;
  if (*after.resident_at_start <= kCold) return CacheState::cold;
  return *after.resident_at_start >= kWarm && cold_share(before, after) <= 1 - kWarm ? CacheState::warm
                                                                                     : CacheState::mixed;
}

}  // namespace ridgeline::loader
