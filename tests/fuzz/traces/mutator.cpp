// SPDX-License-Identifier: Apache-2.0
#include "fuzz/traces/mutator.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ridgeline::fuzz {
namespace {

constexpr std::size_t kMostBytes = 64 * 1024;  // of an input: larger ones find the same, later
constexpr std::array<std::string_view, 26> kExtremes{"0",
                                                     "-1",
                                                     "1",
                                                     "127",
                                                     "2147483647",
                                                     "-2147483648",
                                                     "4294967296",
                                                     "4503599627370495",
                                                     "-4503599627370495",
                                                     "4503599627370496",
                                                     "9007199254740993",
                                                     "9223372036854775807",
                                                     "-9223372036854775808",
                                                     "9223372036854775808",
                                                     "18446744073709551615",
                                                     "99999999999999999999999999999999",
                                                     "1e15",
                                                     "1e308",
                                                     "-1e308",
                                                     "1e400",
                                                     "1e-400",
                                                     "0.0004999",
                                                     "NaN",
                                                     "null",
                                                     "\"\"",
                                                     "[]"};
constexpr std::string_view kStructure = "\"{}[]:,\\\n\0()' ;/#.\xFF";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void Mutator::text(std::string& bytes) {
  do change_text(bytes);
  while (!one_in(3));
}

void Mutator::binary(std::string& bytes) {
  do change_bytes(bytes);
  while (!one_in(3));
}

void Mutator::change_text(std::string& bytes) {
  if (bytes.empty()) return;
  switch (below(12)) {
    case 0: bytes[below(bytes.size())] = static_cast<char>(below(256)); break;
    case 1: bytes[below(bytes.size())] = kStructure[below(kStructure.size())]; break;
    case 2: cut(bytes); break;
    case 3: repeat(bytes); break;
    case 4:
    case 5:
    case 6: replace_number(bytes); break;
    case 7: exchange(bytes, number(bytes), number(bytes)); break;
    case 8:
    case 9: swap_quoted(bytes); break;
    default: swap_lines(bytes);
  }
}

void Mutator::change_bytes(std::string& bytes) {
  if (bytes.empty()) return;
  const auto at = below(bytes.size());
  switch (below(7)) {
    case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); break;
    case 1: bytes[at] = static_cast<char>(below(256)); break;
    case 2: cut(bytes); break;
    case 3: repeat(bytes); break;
    case 4:
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::min(below(12), bytes.size() - at), '\xFF');
      break;
    case 5: bytes.insert(at, below(12), one_in(2) ? '\xFF' : '\x80'); break;
    default: bytes[at] = one_in(2) ? '\0' : '\x7F';
  }
}

void Mutator::cut(std::string& bytes) {
  const auto at = below(bytes.size());
  bytes.erase(at, one_in(4) ? bytes.size() : 1 + below(one_in(2) ? 8 : 400));
}

void Mutator::repeat(std::string& bytes) {
  const auto at = below(bytes.size());
  const auto piece = bytes.substr(at, 1 + below(one_in(2) ? 8 : 400));
  std::string more;
  for (auto times = one_in(8) ? below(300) : below(4); times > 0 && bytes.size() + more.size() < kMostBytes; --times)
    more += piece;
  bytes.insert(at, more);
}

void Mutator::replace_number(std::string& bytes) {
  const auto place = number(bytes);
  if (place.size > 0) bytes.replace(place.at, place.size, kExtremes[below(kExtremes.size())]);
}

void Mutator::swap_quoted(std::string& bytes) {
  const auto one = quoted(bytes);
  const auto other = quoted(bytes);
  if (one_in(2))
    exchange(bytes, one, other);
  else if (one.size > 0)
    bytes.replace(one.at, one.size, bytes.substr(other.at, other.size));
}

void Mutator::swap_lines(std::string& bytes) {
  const auto one = line(bytes);
  const auto other = line(bytes);
  switch (below(3)) {
    case 0: exchange(bytes, one, other); break;
    case 1: bytes.erase(one.at, one.size); break;
    default:
      if (bytes.size() < kMostBytes) bytes.insert(one.at, bytes.substr(other.at, other.size));
  }
}

Mutator::Span Mutator::number(const std::string& bytes) {
  if (bytes.empty()) return {};
  auto at = below(bytes.size());
  while (at < bytes.size() && !is_digit(bytes[at])) ++at;
  while (at > 0 && at < bytes.size() && (is_digit(bytes[at - 1]) || bytes[at - 1] == '.' || bytes[at - 1] == '-')) --at;
  auto end = at;
  while (end < bytes.size() && (is_digit(bytes[end]) || bytes[end] == '.' || bytes[end] == '-')) ++end;
  return {at, end - at};
}

Mutator::Span Mutator::quoted(const std::string& bytes) {
  if (bytes.empty()) return {};
  // Those of SQL too.
  const auto begin = bytes.find_first_of("\"'", below(bytes.size()));
  const auto end = begin == std::string::npos ? begin : bytes.find(bytes[begin], begin + 1);
  return end == std::string::npos ? Span{} : Span{begin, end + 1 - begin};
}

Mutator::Span Mutator::line(const std::string& bytes) {
  if (bytes.empty()) return {};
  const auto before = bytes.rfind('\n', below(bytes.size()));
  const auto begin = before == std::string::npos ? 0 : before + 1;
  const auto end = std::min(bytes.find('\n', begin), bytes.size() - 1);
  return begin <= end ? Span{begin, end + 1 - begin} : Span{};
}

void Mutator::exchange(std::string& bytes, Span one, Span other) {
  if (one.at > other.at) std::swap(one, other);
  if (one.size == 0 || other.size == 0 || one.at + one.size > other.at) return;
  const auto first = bytes.substr(one.at, one.size);
  const auto second = bytes.substr(other.at, other.size);
  bytes.replace(other.at, other.size, first);
  bytes.replace(one.at, one.size, second);
}

}  // namespace ridgeline::fuzz
