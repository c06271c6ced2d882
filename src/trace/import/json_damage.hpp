// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ridgeline::trace {

/// Of UTF-8, which editors of Windows put before a text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Behind the end of a string of JSON whose first character is at `at`, or npos where it does not end before `end`.
[[nodiscard]] std::size_t behind_string(const char* bytes, std::size_t at, std::size_t end);

/// The brackets of an event that are open, the innermost last. One that closes nothing is passed over, one that closes
/// what lies further out closes what is within, so that a bracket too many or too few takes no other event along.
class Brackets {
 public:
  [[nodiscard]] bool any() const noexcept { return depth_ > 0; }
  /// The innermost is an object, whose values follow a colon.
  [[nodiscard]] bool in_object() const noexcept { return depth_ > 0 && !deep_ && (arrays_ & 1U) == 0; }
  void open(bool array) noexcept {
    arrays_ = arrays_ << 1U | (array ? 1U : 0U);
    if (++depth_ > kMostKnown) [[unlikely]]
      deep_ = true;
  }
  /// True where the event ends with it. Only if any().
  bool close(bool array) noexcept {
    if (array != ((arrays_ & 1U) != 0) && !deep_) [[unlikely]] {
      if (array) return false;
      while (depth_ > 1 && (arrays_ & 1U) != 0) pop();
    }
    pop();
    if (depth_ > 0) return false;
    *this = {};
    return true;
  }

 private:
  static constexpr std::size_t kMostKnown = 64;
  void pop() noexcept {
    arrays_ >>= 1U;
    --depth_;
  }
  std::uint64_t arrays_ = 0;  ///< a bit for each: an array rather than an object
  std::size_t depth_ = 0;
  bool deep_ = false;  ///< there were more than bits since the event began
};

/// Whether an object that begins at `at` has a key of an event first: {"ph": ...
[[nodiscard]] bool begins_event(std::string_view text, std::size_t at);
/// Where the next event begins, from `at` on, behind what may end another; npos: nowhere.
[[nodiscard]] std::size_t next_event(std::string_view text, std::size_t at);

/// Whether a text between two events has the one comma that belongs there, or more than commas. Before the first event
/// of a batch, whose text begins with a bracket, it has none.
[[nodiscard]] bool is_separator(std::string_view text);

/// JSON with its commas and brackets put right, as far as they follow from the rest: commas that separate nothing,
/// commas and closing brackets that are missing, control characters in strings, bytes that are not UTF-8.
[[nodiscard]] std::string mended(std::string_view json);

}  // namespace ridgeline::trace
