// SPDX-License-Identifier: Apache-2.0
#include "analysis/comparison_text.hpp"

#include <fmt/format.h>

namespace ridgeline::analysis {

std::string tail_text(const schema::Comparison& comparison) {
  if (!(comparison.tail > 0)) return "the tail";
  return comparison.tail > 0.5 ? fmt::format("the {:.0f}th percentile", comparison.tail * 100) : "the median";
}

std::string tail_mark(const schema::Comparison& comparison) {
  if (!(comparison.tail > 0) || comparison.tail >= 0.99) return "";
  return comparison.tail > 0.5 ? fmt::format("p{:.0f}", comparison.tail * 100) : "median";
}

std::string tail_note(const schema::Comparison& comparison) {
  const auto mark = tail_mark(comparison);
  return mark.empty() ? "" : fmt::format(", of {}{}: too few samples for p99", mark == "median" ? "the " : "", mark);
}

}  // namespace ridgeline::analysis
