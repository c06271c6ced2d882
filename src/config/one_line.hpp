// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "base/error.hpp"

namespace ridgeline::config {

/// Messages quote the user's keys and values, which may hold newlines or be very long: escapes control characters and
/// leaves out the middle of what is longer than a screen can show, so that place and cause stay readable.
[[nodiscard]] inline base::Error one_line(base::Error error) {
  constexpr std::size_t kHead = 400;
  constexpr std::size_t kTail = 200;
  std::string text;
  for (const char c : error.message) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      text += "\\n";
    else if (byte < 0x20 || byte == 0x7F)
      text += fmt::format("\\x{:02x}", byte);
    else
      text += c;
  }
  if (text.size() > kHead + kTail + 5) text = text.substr(0, kHead) + " ... " + text.substr(text.size() - kTail);
  error.message = std::move(text);
  return error;
}

}  // namespace ridgeline::config
