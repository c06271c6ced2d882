// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ridgeline::loader {

inline constexpr unsigned kChecksumBytes = 4;

/// The checksum of HDF5's metadata since release 1.8: Bob Jenkins' lookup3 (hashlittle, 2006, public domain) with 0 to
/// begin with.
[[nodiscard]] std::uint32_t metadata_checksum(std::span<const std::byte> data) noexcept;

}  // namespace ridgeline::loader
