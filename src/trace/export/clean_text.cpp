// SPDX-License-Identifier: Apache-2.0
#include "trace/export/clean_text.hpp"

#include "base/utf8.hpp"

namespace ridgeline::trace {
namespace {

/// How many bytes of characters the text begins with.
std::size_t clean_bytes(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const auto next = base::first_character(text.substr(at));
    if (!next.valid) break;
    at += next.length;
  }
  return at;
}

}  // namespace

std::string_view clean_text(std::string_view text, std::string& room) {
  auto clean = clean_bytes(text);
  if (clean == text.size()) return text;
  room.clear();
  while (!text.empty()) {
    room += text.substr(0, clean);
    text.remove_prefix(clean);
    if (text.empty()) break;
    room += base::utf8(0xFFFD);
    text.remove_prefix(1);
    clean = clean_bytes(text);
  }
  return room;
}

}  // namespace ridgeline::trace
