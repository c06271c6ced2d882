// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ridgeline::trace {

/// Small negative numbers become small ones without a sign: 0, -1, 1, -2 are 0, 1, 2, 3.
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}
[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>((value >> 1U) ^ (0 - (value & 1U)));
}

/// Seven bits a byte, the lowest first; at most ten bytes.
inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80U);
    value >>= 7U;
  }
  out += static_cast<char>(value);
}

/// Its length, then its bytes.
inline void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out += text;
}

/// Reads what put_varint and put_text wrote. Behind the end, and where bytes are no such number, everything is 0 or ""
/// and failed() is true from then on.
class VarintReader {
 public:
  explicit VarintReader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::uint64_t varint() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    return fail();
  }
  std::string_view text() noexcept {
    const auto size = varint();
    if (size > left()) {
      fail();
      return {};
    }
    const std::string_view out(at_, size);
    at_ += size;
    return out;
  }

  /// What is wrong with the bytes is found by whoever reads them, too.
  std::uint64_t fail() noexcept {
    failed_ = true;
    at_ = end_;
    return 0;
  }
  [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
  const char* at_;
  const char* end_;
  bool failed_ = false;
};

}  // namespace ridgeline::trace
