// SPDX-License-Identifier: Apache-2.0
#include "trace/import/bracket_scan.hpp"

#include <algorithm>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ridgeline::trace {
namespace {

constexpr std::size_t kScannedBytes = 64;

bool is_bracket(char c) { return c == '{' || c == '}' || c == '[' || c == ']'; }

/// A bit for each of 64 bytes.
struct ByteMasks {
  std::uint64_t quotes = 0;
  std::uint64_t slashes = 0;
  std::uint64_t brackets = 0;
};

#if defined(__SSE2__)
ByteMasks masks_of(const char* bytes) {
  ByteMasks masks;
  for (std::size_t part = 0; part < kScannedBytes; part += 16) {
    const auto text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + part));
    const auto equals = [&](__m128i to, char c) { return _mm_cmpeq_epi8(to, _mm_set1_epi8(c)); };
    const auto put = [&](std::uint64_t& mask, __m128i found) {
      mask |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(found))) << part;
    };
    const auto curly = _mm_or_si128(text, _mm_set1_epi8(0x20));  // [ and ] are { and } without that bit
    put(masks.quotes, equals(text, '"'));
    put(masks.slashes, equals(text, '\\'));
    put(masks.brackets, _mm_or_si128(equals(curly, '{'), equals(curly, '}')));
  }
  return masks;
}
#else
ByteMasks masks_of(const char* bytes) {
  ByteMasks masks;
  for (std::size_t i = 0; i < kScannedBytes; ++i) {
    masks.quotes |= std::uint64_t{bytes[i] == '"'} << i;
    masks.slashes |= std::uint64_t{bytes[i] == '\\'} << i;
    masks.brackets |= std::uint64_t{is_bracket(bytes[i])} << i;
  }
  return masks;
}
#endif

/// Of each bit whether an odd number of bits is set up to it.
std::uint64_t parity_up_to(std::uint64_t bits) {
  for (unsigned shift = 1; shift < kScannedBytes; shift *= 2) bits ^= bits << shift;
  return bits;
}

}  // namespace

BracketScan::Block BracketScan::next(const char* bytes, std::size_t size) noexcept {
  if (size < kScannedBytes || escaped_) return next_by_byte(bytes, size);
  const auto masks = masks_of(bytes);
  if (masks.slashes != 0) return next_by_byte(bytes, size);
  const auto inside = parity_up_to(masks.quotes) ^ (in_string_ ? ~std::uint64_t{0} : 0);
  in_string_ = inside >> (kScannedBytes - 1) != 0;
  return {masks.brackets & ~inside, masks.brackets & inside, kScannedBytes};
}

BracketScan::Block BracketScan::next_by_byte(const char* bytes, std::size_t size) noexcept {
  Block block{0, 0, std::min(size, kScannedBytes)};
  for (std::size_t i = 0; i < block.size; ++i) {
    const char c = bytes[i];
    if (escaped_)
      escaped_ = false;
    else if (in_string_ && c == '\\')
      escaped_ = true;
    else if (c == '"')
      in_string_ = !in_string_;
    else if (is_bracket(c))
      (in_string_ ? block.in_strings : block.brackets) |= std::uint64_t{1} << i;
  }
  return block;
}

}  // namespace ridgeline::trace
