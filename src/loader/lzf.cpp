// SPDX-License-Identifier: Apache-2.0
#include "loader/lzf.hpp"

#include <cstring>

namespace ridgeline::loader {

std::size_t lzf_decompress(std::span<const std::byte> in, std::span<std::byte> out) noexcept {
  constexpr unsigned kLiteralLimit = 32;
  std::size_t from = 0;
  std::size_t to = 0;
  while (from < in.size()) {
    const auto control = std::to_integer<unsigned>(in[from++]);
    if (control < kLiteralLimit) {
      const std::size_t length = control + 1;
      if (length > in.size() - from || length > out.size() - to) return 0;
      std::memcpy(out.data() + to, in.data() + from, length);
      from += length;
      to += length;
      continue;
    }
    std::size_t length = control >> 5U;
    if (length == 7) {
      if (from == in.size()) return 0;
      length += std::to_integer<unsigned>(in[from++]);
    }
    length += 2;
    if (from == in.size()) return 0;
    const std::size_t distance = ((control & 0x1FU) << 8U) + std::to_integer<unsigned>(in[from++]) + 1;
    if (distance > to || length > out.size() - to) return 0;
    if (distance >= length) {
      std::memcpy(out.data() + to, out.data() + to - distance, length);
    } else {
      for (std::size_t i = 0; i < length; ++i) out[to + i] = out[to + i - distance];  // overlaps: a repeated pattern
    }
    to += length;
  }
  return to;
}

}  // namespace ridgeline::loader
