// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "config/config_patch.hpp"

namespace ridgeline::config {
namespace {

TEST(UnifiedDiff, is_empty_for_equal_texts) { EXPECT_EQ(unified_diff("a\n", "a\n", "f"), ""); }

TEST(UnifiedDiff, shows_three_lines_of_context) {
  EXPECT_EQ(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "config.yaml"),
            "--- config.yaml\n+++ config.yaml\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, parts_changes_that_are_far_from_each_other) {
  EXPECT_EQ(unified_diff("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n", "f"),
            "--- f\n+++ f\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
  EXPECT_EQ(unified_diff("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n", "f"),
            "--- f\n+++ f\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
}

TEST(UnifiedDiff, marks_a_missing_final_newline) {
  EXPECT_EQ(
      unified_diff("a\nb", "a\nb\nc", "f"),
      "--- f\n+++ f\n@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n");
}

TEST(UnifiedDiff, starts_from_nothing) {
  EXPECT_EQ(unified_diff("", "a\n", "f"), "--- f\n+++ f\n@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(unified_diff("a\n", "", "f"), "--- f\n+++ f\n@@ -1 +0,0 @@\n-a\n");
}

TEST(UnifiedDiff, hides_carriage_returns_only_when_every_line_has_one) {
  EXPECT_EQ(unified_diff("a\r\nb\r\n", "a\r\nc\r\n", "f"), "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
  EXPECT_EQ(unified_diff("a\r\nb\n", "a\nb\n", "f"), "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a^M\n+a\n b\n");
}

/// Applies a diff made without "no newline" marks, as patch(1) does.
std::string applied(std::string_view before, std::string_view diff) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < before.size();) {
    const auto end = before.find('\n', at);
    lines.emplace_back(before.substr(at, end - at));
    at = end + 1;
  }
  std::string out;
  std::size_t next = 0;
  for (std::size_t at = diff.find("@@"); at < diff.size();) {
    const auto end = diff.find('\n', at);
    const auto line = std::string(diff.substr(at, end - at));
    at = end + 1;
    if (line.rfind("@@ -", 0) == 0) {
      const auto start = std::stoul(line.substr(4));
      const auto comma = line.find(',');
      const bool empty = comma < line.find('+') && line.substr(comma, 3) == ",0 ";
      for (; next < (empty ? start : start - 1); ++next) out += lines[next] + "\n";
    } else if (line[0] == '+') {
      out += line.substr(1) + "\n";
    } else {
      EXPECT_EQ(line.substr(1), lines[next]);
      if (line[0] == ' ') out += lines[next] + "\n";
      ++next;
    }
  }
  for (; next < lines.size(); ++next) out += lines[next] + "\n";
  return out;
}

TEST(UnifiedDiff, applied_to_the_old_text_gives_the_new_one) {
  base::Random random(7);
  for (int round = 0; round < 300; ++round) {
    std::string before;
    std::string after;
    const auto count = random.below(60);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto line = fmt::format("{}\n", random.below(6));
      const auto fate = random.below(10);
      if (fate != 0) before += line;
      if (fate != 1) after += line;
      if (fate == 2) after += "new\n";
    }
    const auto diff = unified_diff(before, after, "f");
    EXPECT_EQ(diff.empty(), before == after);
    EXPECT_EQ(applied(before, diff), after) << diff;
  }
}

TEST(UnifiedDiff, replaces_whole_what_has_little_in_common) {
  std::string before;
  std::string after;
  for (int i = 0; i < 1200; ++i) {
    before += fmt::format("a{}\n", i);
    after += fmt::format("b{}\n", i);
  }
  EXPECT_EQ(applied(before, unified_diff(before, after, "f")), after);
}

}  // namespace
}  // namespace ridgeline::config
