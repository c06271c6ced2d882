// SPDX-License-Identifier: Apache-2.0
#include "trace/import/message_text.hpp"

#include <fmt/format.h>

namespace ridgeline::trace {
namespace {

constexpr std::size_t kMostMessageBytes = 1000;

}  // namespace

std::string message_text(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMostMessageBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return text.size() > kMostMessageBytes ? out + " ..." : out;
}

}  // namespace ridgeline::trace
