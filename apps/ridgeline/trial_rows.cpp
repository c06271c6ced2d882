// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/trial_rows.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "report/utf8.hpp"

namespace ridgeline::app {

void TrialRows::header(const std::string& line) const {
  fmt::print("{}\n", styled(line, Style::bold, out_.colour));
  std::fflush(stdout);
}

void TrialRows::row(const std::string& line, report::Tone tone) const {
  const auto style = tone == report::Tone::bad ? Style::bad : Style::warning;
  // A row is a line: what a trial said in full is in `show --all`.
  const auto room = static_cast<std::size_t>(std::max(20, out_.width));
  const auto text = out_.interactive ? report::shorten(line, room) : line;
  fmt::print("{}\n", tone == report::Tone::neutral ? text : styled(text, style, out_.colour));
}

void TrialRows::status(const std::string& text) const {
  if (!err_.interactive) return;
  const auto room = static_cast<std::size_t>(std::max(20, err_.width - 1));
  fmt::print(stderr, "\r\x1b[K{}", report::shorten(text, room));
  std::fflush(stderr);
}

}  // namespace ridgeline::app
