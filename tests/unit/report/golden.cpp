// SPDX-License-Identifier: Apache-2.0
#include "unit/report/golden.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include <fmt/format.h>

namespace ridgeline::report {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The middle that differs once common lines at both ends are taken away.
std::string difference(std::string_view expected, std::string_view actual) {
  const auto old_lines = lines_of(expected);
  const auto new_lines = lines_of(actual);
  const auto shorter = std::min(old_lines.size(), new_lines.size());
  std::size_t head = 0;
  while (head < shorter && old_lines[head] == new_lines[head]) ++head;
  std::size_t tail = 0;
  while (tail < shorter - head && old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail])
    ++tail;
  constexpr std::size_t kShown = 20;
  auto out = fmt::format("@@ line {} @@\n", head + 1);
  const auto show = [&](char mark, const std::vector<std::string>& lines) {
    const auto end = lines.size() - tail;
    for (auto i = head; i < end && i < head + kShown; ++i) out += fmt::format("{}{}\n", mark, lines[i]);
    if (end > head + kShown) out += fmt::format("{}... {} more lines\n", mark, end - head - kShown);
  };
  show('-', old_lines);
  show('+', new_lines);
  return out;
}

}  // namespace

void expect_golden(const std::string& name, std::string_view actual) {
  const auto path = std::string(RL_SOURCE_DIR) + "/tests/golden/report/" + name;
  const auto* accept = std::getenv("RIDGELINE_ACCEPT_GOLDENS");
  if (accept != nullptr && std::string_view(accept) == "1") {
    std::ofstream(path, std::ios::binary) << actual;
    GTEST_SKIP() << "accepted " << path;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file.good()) << path
                           << " is missing: run again with RIDGELINE_ACCEPT_GOLDENS=1 to write it, then review it";
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  if (expected == actual) return;
  ADD_FAILURE() << path << " differs (- golden, + now):\n"
                << difference(expected, actual)
                << "if the change is meant, run again with RIDGELINE_ACCEPT_GOLDENS=1 and review the diff";
}

}  // namespace ridgeline::report
