// SPDX-License-Identifier: Apache-2.0
#include "report/markup.hpp"

#include <array>

namespace ridgeline::report {

std::string escape_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const auto c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string_view tone_name(Tone tone) noexcept {
  static constexpr std::array<std::string_view, 4> kNames{"neutral", "good", "warning", "bad"};
  return kNames[static_cast<std::size_t>(tone)];
}

}  // namespace ridgeline::report
