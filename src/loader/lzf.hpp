// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace ridgeline::loader {

/// Undoes LZF compression (the format of LibLZF and of h5py's filter 32000): a control byte below 32 copies that many +
/// 1 literal bytes; above, its top three bits (7: the next byte is added) + 2 are a length and its low five bits with
/// the following byte a distance - 1 back. Returns the bytes written; 0 when the input is malformed or `out` is too
/// small.
[[nodiscard]] std::size_t lzf_decompress(std::span<const std::byte> in, std::span<std::byte> out) noexcept;

}  // namespace ridgeline::loader
