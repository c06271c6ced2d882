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
  constexpr double kWarm = 0.01;
  constexpr double kCold = 0.5;
  if (after.total.read.tally.bytes == before.total.read.tally.bytes) return CacheState::decoded;
  if (!after.tells_cold_reads) return CacheState::unknown;
  const auto share = cold_share(before, after);
  return share <= kWarm ? CacheState::warm : share >= kCold ? CacheState::cold : CacheState::mixed;
}

}  // namespace ridgeline::loader
