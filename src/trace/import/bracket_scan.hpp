// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ridgeline::trace {

/// Finds the brackets of JSON, outside of strings and within, 64 bytes at a time: a text goes through it piece by
/// piece.
class BracketScan {
 public:
  struct Block {
    std::uint64_t brackets = 0;    ///< a bit for each byte, the first the lowest: outside of strings
    std::uint64_t in_strings = 0;  ///< those within strings
    std::size_t size = 0;          ///< bytes, 1 to 64
  };
  /// Of the next bytes; `size` is at least 1.
  [[nodiscard]] Block next(const char* bytes, std::size_t size) noexcept;
  /// What comes next is outside of strings, or within one.
  void restart(bool in_string = false) noexcept {
    in_string_ = in_string;
    escaped_ = false;
  }

 private:
  [[nodiscard]] Block next_by_byte(const char* bytes, std::size_t size) noexcept;

  bool in_string_ = false;
  bool escaped_ = false;  ///< the last byte was a backslash of a string
};

}  // namespace ridgeline::trace
