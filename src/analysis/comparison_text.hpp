// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schema/sweep.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

/// What is said in place of a ratio that is_too_wide.
inline constexpr std::string_view kTooFewMeasurements = "too few measurements";
[[nodiscard]] inline bool is_too_wide(const schema::Comparison& comparison) noexcept {
  return stats::is_too_wide(comparison.low, comparison.high);
}

/// What a p99 comparison is of where its samples support a lower percentile only; nullopt: another objective, or the
/// 99th itself.
[[nodiscard]] std::optional<std::int64_t> lower_percentile(const schema::Comparison& comparison);
inline constexpr std::int64_t kMedian = 50;

/// "1.943x as fast (95 % interval 1.894 to 1.993)", "at least 1.25x as fast (too few measurements for a ratio)", or
/// "not comparable (too few measurements for a ratio)".
[[nodiscard]] schema::Message gain_of(const schema::Comparison& gain);

/// Whether the interval lies on one side of 1: the direction is shown then, however wide it is.
[[nodiscard]] bool has_bound(const schema::Comparison& comparison);
/// Of such a comparison: "at most 0.40 times as fast (too few measurements for a ratio)".
[[nodiscard]] std::string bound_text(const schema::Comparison& comparison, std::string_view as_fast,
                                     std::string_view times = " ");

/// "loss -0.12 (95 % interval -0.2 to -0.04)", or "loss -0.12 (measured once, no interval)".
[[nodiscard]] std::string difference_text(const schema::SweepDifference& difference);

/// What a p99 comparison's ratio is of: "the 99th percentile", "the 95th percentile", "the median", or "the tail" where
/// the record does not tell (Comparison::tail 0).
[[nodiscard]] std::string tail_text(const schema::Comparison& comparison);

/// For a ratio of a lower percentile than the 99th that was asked for, "p95", "p90" or "median"; else "".
[[nodiscard]] std::string tail_mark(const schema::Comparison& comparison);

/// To follow an interval: ", of p95: too few samples for p99", or "".
[[nodiscard]] std::string tail_note(const schema::Comparison& comparison);

}  // namespace ridgeline::analysis
