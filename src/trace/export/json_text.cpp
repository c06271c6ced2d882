// SPDX-License-Identifier: Apache-2.0
#include "trace/export/json_text.hpp"

#include <charconv>

#include "trace/export/clean_text.hpp"

namespace ridgeline::trace {
namespace {

constexpr bool is_escaped(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

template <typename Number>
void append_digits(std::string& out, Number number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string room;
  text = clean_text(text, room);
  out += '"';
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (!is_escaped(c)) continue;
    out += text.substr(done, at - done);
    done = at + 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else {
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4U];
      out += kHex[static_cast<unsigned char>(c) & 15U];
    }
  }
  out += text.substr(done);
  out += '"';
}

void append_number(std::string& out, std::int64_t number) { append_digits(out, number); }

void append_microseconds(std::string& out, std::int64_t nanoseconds) {
  const auto bits = static_cast<std::uint64_t>(nanoseconds);
  const auto size = nanoseconds < 0 ? 0 - bits : bits;
  if (nanoseconds < 0) out += '-';
  append_digits(out, size / 1000);
  const auto part = size % 1000;
  const char decimals[] = {'.', static_cast<char>('0' + part / 100), static_cast<char>('0' + part / 10 % 10),
                           static_cast<char>('0' + part % 10)};
  out.append(decimals, sizeof decimals);
}

}  // namespace ridgeline::trace
