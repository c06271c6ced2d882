// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <dtl/dtl.hpp>

#include "config/config_patch.hpp"

namespace ridgeline::config {
namespace {

constexpr int kContext = 3;

using Lines = std::vector<std::string_view>;

/// With their line feeds, so that a missing one at the end is a difference.
Lines split_lines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const auto at = text.find('\n');
    const auto length = at == std::string_view::npos ? text.size() : at + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

struct Op {
  char sign;  ///< ' ', '-', '+'
  std::string_view line;
};

/// The shortest edit script, deletions first in every run of changes, as people expect to read it.
std::vector<Op> edit_script(const Lines& before, const Lines& after) {
  dtl::Diff<std::string_view, Lines> diff(before, after, true);
  diff.compose();
  std::vector<Op> ops;
  for (const auto& [line, place] : diff.getSes().getSequence())
    ops.push_back({place.type == dtl::SES_DELETE ? '-' : place.type == dtl::SES_ADD ? '+' : ' ', line});
  return ops;
}

/// A carriage return is shown (^M) only in texts that mix line ends, where it may be the very difference.
std::string shown(const Op& op, bool hide_cr) {
  auto line = op.line;
  const bool complete = !line.empty() && line.back() == '\n';
  if (complete) line.remove_suffix(1);
  std::string text(1, op.sign);
  if (!line.empty() && line.back() == '\r') {
    line.remove_suffix(1);
    text += line;
    if (!hide_cr) text += "^M";
  } else {
    text += line;
  }
  return text + (complete ? "\n" : "\n\\ No newline at end of file\n");
}

std::string range(int start, int count) {
  // An empty range names the line before it.
  if (count == 0) return fmt::format("{},0", start);
  return count == 1 ? fmt::format("{}", start + 1) : fmt::format("{},{}", start + 1, count);
}

bool all_crlf(const Lines& lines) {
  return std::all_of(lines.begin(), lines.end(), [](std::string_view line) {
    return line.back() != '\n' || (line.size() > 1 && line[line.size() - 2] == '\r');
  });
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view name) {
  if (before == after) return "";
  const auto a = split_lines(before);
  const auto b = split_lines(after);
  const auto ops = edit_script(a, b);
  const bool hide_cr = all_crlf(a) && all_crlf(b);
  std::string out = fmt::format("--- {}\n+++ {}\n", name, name);
  int line_a = 0;
  int line_b = 0;
  const int size = static_cast<int>(ops.size());
  const auto sign = [&](int i) { return ops[static_cast<std::size_t>(i)].sign; };
  for (int i = 0; i < size;) {
    if (sign(i) == ' ') {
      ++i, ++line_a, ++line_b;
      continue;
    }
    int end = i;  // one past the last change of this hunk
    for (int k = i; k < size && k <= end + 2 * kContext; ++k)
      if (sign(k) != ' ') end = k + 1;
    const int begin = std::max(0, i - kContext);
    const int stop = std::min(size, end + kContext);
    const int start_a = line_a - (i - begin);
    const int start_b = line_b - (i - begin);
    int count_a = 0;
    int count_b = 0;
    std::string body;
    for (int k = begin; k < stop; ++k) {
      count_a += sign(k) != '+' ? 1 : 0;
      count_b += sign(k) != '-' ? 1 : 0;
      body += shown(ops[static_cast<std::size_t>(k)], hide_cr);
    }
    out += fmt::format("@@ -{} +{} @@\n{}", range(start_a, count_a), range(start_b, count_b), body);
    line_a = start_a + count_a;
    line_b = start_b + count_b;
    i = stop;
  }
  return out;
}

}  // namespace ridgeline::config
