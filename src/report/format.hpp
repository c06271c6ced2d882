// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/summary.hpp"
#include "base/text.hpp"
#include "schema/message.hpp"
#include "schema/objective.hpp"
#include "schema/quantity.hpp"
#include "schema/tune_run.hpp"
#include "stats/interval.hpp"

namespace ridgeline::report {

/// What stands where a number is missing.
inline constexpr std::string_view kAbsent = "–";

/// Writes one column's numbers in one unit with the same number of decimals, so that they can be compared by eye.
struct Scale {
  std::string unit;     ///< "ms", "items/s", "MiB"
  double per_unit = 1;  ///< raw values a unit
  int decimals = 2;
  bool inverse = false;  ///< the raw value is a cost in ns an item, shown as items a second

  [[nodiscard]] double convert(double raw) const noexcept;
  /// "12.34" or "–" when not finite.
  [[nodiscard]] std::string number(double raw) const;
  /// "12.34 ms"
  [[nodiscard]] std::string text(double raw) const;
  /// The same, for a message.
  [[nodiscard]] schema::Quantity quantity(double raw) const { return {convert(raw), unit, decimals}; }
  /// "12.30–12.38", lower end first whatever the direction.
  [[nodiscard]] std::string interval(const stats::Interval& raw) const;
};

/// ns, µs, ms or s, with four significant digits at `typical_ns`.
[[nodiscard]] Scale duration_scale(double typical_ns);
/// Items a second from raw items a second.
[[nodiscard]] Scale rate_scale(double typical_per_s);
/// An objective's cost (analysis::Cost) as people read it: a duration, or items a second.
[[nodiscard]] Scale objective_scale(schema::Objective objective, double typical_cost);

/// "median latency", "99th-percentile latency", "throughput"; `starts`: with a capital.
[[nodiscard]] schema::Message objective_name(schema::Objective objective, bool starts = false);
/// "1.43× as fast", "1.43× as fast at the 99th percentile" (the one that it is of), "1.43× the throughput"; "at least
/// 1.2× as fast" where the interval is too wide for a ratio (analysis::is_too_wide).
[[nodiscard]] schema::Message gain_phrase(schema::Objective objective, const schema::Comparison& gain);
/// "1.43×", or of an interval that is too wide for a ratio "at least 1.2×", "at most 0.8×", or if it holds 1 "too few
/// measurements".
[[nodiscard]] schema::Message times_of(const schema::Comparison& gain);

/// A comparison's ratio: "1.43×", "1.43× (p95)" where it is not of the percentile that was asked for, or "too few
/// measurements" (analysis::is_too_wide).
[[nodiscard]] schema::Message ratio_of(const schema::Comparison& comparison);
/// "1.39–1.47"; kAbsent where it is too wide.
[[nodiscard]] std::string interval_cell(const schema::Comparison& comparison);
/// A comparison's ratio as a signed change, and its interval; as ratio_of and interval_cell where it is too wide.
[[nodiscard]] schema::Message change_of(const schema::Comparison& comparison);
[[nodiscard]] schema::Message change_interval_of(const schema::Comparison& comparison);
/// "95 % interval 1.39–1.47", or "too few measurements for a ratio"; ", of p95: too few samples for p99" where that is
/// so.
[[nodiscard]] schema::Message interval_of(const schema::Comparison& comparison);

using base::counted;

/// A share as a percentage: 0.02 -> "2 %".
[[nodiscard]] std::string percent(double share);
/// Capital letter first (unless the first word is an identifier) and a full stop at the end; "" stays "".
[[nodiscard]] std::string sentence(std::string text);
/// "2026-11-21 08:15:00 UTC" from "2026-11-21T08:15:00Z"; any other text as it is.
[[nodiscard]] std::string utc_text(std::string_view utc);

/// How the time of a run was divided.
[[nodiscard]] schema::Message time_division(const schema::TimeSpent& spent);
/// "8.21 ms" or "134 items/s" of a measurement by the objective.
[[nodiscard]] schema::Message value_by(const schema::Measurement& measurement, schema::Objective objective);

}  // namespace ridgeline::report
