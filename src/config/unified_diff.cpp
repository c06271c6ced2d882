// SPDX-License-Identifier: Apache-2.0
// Myers, "An O(ND) Difference Algorithm and Its Variations" (1986): O((n+m)D) time, O(D^2) memory for D differences,
// after the common beginning and end are set aside. Past kMaxDifferences the middle is shown as replaced whole.
#include <algorithm>

#include "config/config_patch.hpp"

namespace ridgeline::config {
namespace {

constexpr int kContext = 3;
constexpr int kMaxDifferences = 1000;

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

/// Appends the edit script of a[from_a..to_a) to b[from_b..to_b), deletions before insertions.
void diff_middle(const Lines& a, int from_a, int to_a, const Lines& b, int from_b, int to_b, std::vector<Op>& ops) {
  const int n = to_a - from_a;
  const int m = to_b - from_b;
  const auto left = [&](int i) { return a[static_cast<std::size_t>(from_a + i)]; };
  const auto right = [&](int i) { return b[static_cast<std::size_t>(from_b + i)]; };
  std::vector<std::vector<int>> trace;
  std::vector<int> reach(2 * static_cast<std::size_t>(kMaxDifferences) + 3, 0);
  const auto at = [](std::vector<int>& row, int k) -> int& {
    return row[static_cast<std::size_t>(k + kMaxDifferences + 1)];
  };
  int found = -1;
  for (int d = 0; d <= std::min(n + m, kMaxDifferences) && found < 0; ++d) {
    trace.push_back(reach);
    for (int k = -d; k <= d; k += 2) {
      int x = k == -d || (k != d && at(reach, k - 1) < at(reach, k + 1)) ? at(reach, k + 1) : at(reach, k - 1) + 1;
      while (x < n && x - k < m && left(x) == right(x - k)) ++x;
      at(reach, k) = x;
      if (x >= n && x - k >= m) {
        found = d;
        break;
      }
    }
  }
  if (found < 0) {
    for (int i = 0; i < n; ++i) ops.push_back({'-', left(i)});
    for (int i = 0; i < m; ++i) ops.push_back({'+', right(i)});
    return;
  }
  std::vector<Op> backwards;
  int x = n;
  int y = m;
  for (int d = found; d >= 0; --d) {
    auto& row = trace[static_cast<std::size_t>(d)];  // as it was before round d
    const int k = x - y;
    const bool down = k == -d || (k != d && at(row, k - 1) < at(row, k + 1));
    const int from_k = down ? k + 1 : k - 1;
    const int from_x = d == 0 ? 0 : at(row, from_k);
    const int from_y = d == 0 ? 0 : from_x - from_k;
    while (x > from_x && y > from_y) {
      --x;
      --y;
      backwards.push_back({' ', left(x)});
    }
    if (d == 0) break;
    if (down)
      backwards.push_back({'+', right(--y)});
    else
      backwards.push_back({'-', left(--x)});
  }
  ops.insert(ops.end(), backwards.rbegin(), backwards.rend());
}

/// Deletions first in every run of changes, as people expect to read it.
void order_runs(std::vector<Op>& ops) {
  for (auto begin = ops.begin(); begin != ops.end();) {
    const auto end = std::find_if(begin, ops.end(), [](const Op& op) { return op.sign == ' '; });
    std::stable_partition(begin, end, [](const Op& op) { return op.sign == '-'; });
    begin = end == ops.end() ? end : end + 1;
  }
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
  const int n = static_cast<int>(a.size());
  const int m = static_cast<int>(b.size());
  int head = 0;
  while (head < n && head < m && a[static_cast<std::size_t>(head)] == b[static_cast<std::size_t>(head)]) ++head;
  int tail = 0;
  while (tail < n - head && tail < m - head &&
         a[static_cast<std::size_t>(n - 1 - tail)] == b[static_cast<std::size_t>(m - 1 - tail)])
    ++tail;
  std::vector<Op> ops;
  for (int i = 0; i < head; ++i) ops.push_back({' ', a[static_cast<std::size_t>(i)]});
  diff_middle(a, head, n - tail, b, head, m - tail, ops);
  for (int i = n - tail; i < n; ++i) ops.push_back({' ', a[static_cast<std::size_t>(i)]});
  order_runs(ops);

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
