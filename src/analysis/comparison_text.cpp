// SPDX-License-Identifier: Apache-2.0
#include "analysis/comparison_text.hpp"

#include <cmath>

#include <fmt/format.h>

#include "analysis/messages.hpp"

namespace ridgeline::analysis {

std::optional<std::int64_t> lower_percentile(const schema::Comparison& comparison) {
  if (!(comparison.tail > 0) || comparison.tail >= 0.99) return std::nullopt;
  return comparison.tail > 0.5 ? std::llround(comparison.tail * 100) : kMedian;
}

schema::Message gain_of(const schema::Comparison& gain) {
  using Kind = messages::GainOfKind;
  const auto percentile = lower_percentile(gain);
  return messages::gain_of({.kind = !is_too_wide(gain) ? Kind::known
                                    : gain.low > 1     ? Kind::least
                                    : gain.high < 1    ? Kind::most
                                                       : Kind::unknown,
                            .ratio = gain.ratio,
                            .low = gain.low,
                            .high = gain.high,
                            .percentile = percentile == kMedian ? std::nullopt : percentile,
                            .median = percentile == kMedian});
}

bool has_bound(const schema::Comparison& comparison) { return comparison.low > 1 || comparison.high < 1; }

std::string bound_text(const schema::Comparison& comparison, std::string_view as_fast, std::string_view times) {
  const bool is_faster = comparison.low > 1;
  const double bound = is_faster ? comparison.low : comparison.high;
  // A small one is not to become 0.
  return fmt::format("at {} {}{}{} ({} for a ratio{})", is_faster ? "least" : "most",
                     bound < 0.1 ? fmt::format("{:.2g}", bound) : fmt::format("{:.2f}", bound), times, as_fast,
                     kTooFewMeasurements, tail_note(comparison));
}

std::string difference_text(const schema::SweepDifference& difference) {
  const auto& value = difference.value;
  return fmt::format("{} {:+.4g} ({})", difference.metric, value.value,
                     difference.has_interval ? fmt::format("95 % interval {:+.4g} to {:+.4g}", value.low, value.high)
                                             : "measured once, no interval");
}

std::string tail_text(const schema::Comparison& comparison) {
  if (!(comparison.tail > 0)) return "the tail";
  return comparison.tail > 0.5 ? fmt::format("the {:.0f}th percentile", comparison.tail * 100) : "the median";
}

std::string tail_mark(const schema::Comparison& comparison) {
  const auto percentile = lower_percentile(comparison);
  if (!percentile) return "";
  return percentile == kMedian ? "median" : fmt::format("p{}", *percentile);
}

std::string tail_note(const schema::Comparison& comparison) {
  const auto mark = tail_mark(comparison);
  return mark.empty() ? "" : fmt::format(", of {}{}: too few samples for p99", mark == "median" ? "the " : "", mark);
}

}  // namespace ridgeline::analysis
