// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "base/json.hpp"
#include "loader/loader.hpp"

namespace ridgeline::loader {

/// Where the bytes of some samples came from: a rate means little without it.
enum class CacheState : std::uint8_t {
  decoded,  ///< nothing was read: all lay decoded in the loader's memory
  warm,     ///< at most a hundredth of the bytes read had to wait for the device
  mixed,    ///< between warm and cold
  cold,     ///< at least half had to; the rest the kernel may have read ahead
  unknown   ///< the file system does not tell
};

/// Of what was read between two looks at a loader's statistics (`before` may be a default one: since the opening).
[[nodiscard]] CacheState cache_state(const LoaderStatistics& before, const LoaderStatistics& after) noexcept;

/// Share of the bytes read in between that had to wait for the device, 0 to 1; 0 when none were read.
[[nodiscard]] double cold_share(const LoaderStatistics& before, const LoaderStatistics& after) noexcept;

}  // namespace ridgeline::loader

template <>
struct ridgeline::base::EnumNames<ridgeline::loader::CacheState> {
  using S = loader::CacheState;
  static constexpr std::array names{std::pair{S::decoded, "decoded"}, std::pair{S::warm, "warm"},
                                    std::pair{S::mixed, "mixed"}, std::pair{S::cold, "cold"},
                                    std::pair{S::unknown, "unknown"}};
};
