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
  warm,     ///< 99 % of the file lay in the page cache at the start, and at most 1 % of the bytes had to wait for the
            ///< device
  mixed,    ///< between warm and cold
  cold,     ///< at most a tenth of the file lay there (most of it the kernel then reads ahead, so few reads wait)
  unknown   ///< the system does not tell
};

/// Of an epoch, by the loader's statistics before and after it.
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
