// SPDX-License-Identifier: Apache-2.0
#include "trace/import/bracket_scan.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace ridgeline::trace {
namespace {

std::vector<std::size_t> by_byte(std::string_view text) {
  std::vector<std::size_t> out;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      in_string = !in_string;
    else if (!in_string && std::string_view("{}[]").find(text[i]) != std::string_view::npos)
      out.push_back(i);
  }
  return out;
}

/// In pieces of at most `piece` bytes.
std::vector<std::size_t> by_block(std::string_view text, std::size_t piece) {
  std::vector<std::size_t> out;
  BracketScan scan;
  for (std::size_t at = 0; at < text.size();) {
    const auto block = scan.next(text.data() + at, std::min(piece, text.size() - at));
    for (std::size_t i = 0; i < 64; ++i)
      if ((block.brackets >> i & 1U) != 0) out.push_back(at + i);
    at += block.size;
  }
  return out;
}

TEST(BracketScan, finds_the_brackets_outside_of_strings) {
  std::mt19937 random(1);
  constexpr std::string_view kWithSlashes = "{}[]\"\\ab:, ";
  constexpr std::string_view kWithout = "{}[]\"abcdefgh:, 0123456789;=|";
  for (int round = 0; round < 400; ++round) {
    const auto letters = round % 2 == 0 ? kWithSlashes : kWithout;
    std::string text(random() % 700 + 1, ' ');
    for (auto& c : text) c = letters[random() % letters.size()];
    const auto expected = by_byte(text);
    for (const std::size_t piece : {std::size_t{1000}, std::size_t{64}, std::size_t{63}, std::size_t{7}})
      ASSERT_EQ(by_block(text, piece), expected) << text << " in pieces of " << piece;
  }
}

TEST(BracketScan, forgets_a_string_that_has_no_end) {
  BracketScan scan;
  EXPECT_EQ(scan.next("\"{\\", 3).brackets, 0U);
  scan.restart();
  EXPECT_EQ(scan.next("{}", 2).brackets, 3U);
}

}  // namespace
}  // namespace ridgeline::trace
