// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "schema/sweep.hpp"

namespace ridgeline::schema {

/// Longer lines of output are cut before an expression is tried on them: its time grows with their square.
inline constexpr std::size_t kLongestMatchedLine = 2000;

/// Reads "NAME=REGEX", "NAME=json:KEY", and either with last:, first:, median:, mean:, min:, max: or sum: before it
/// ("loss=median:json:train.loss"). Errors: no name, one of own_metrics, an expression that does not compile.
[[nodiscard]] base::Result<SweepMetric> parse_sweep_metric(std::string_view text);

/// Reads "max:samples_per_s" or "min:seconds".
[[nodiscard]] base::Result<SweepObjective> parse_sweep_objective(std::string_view text);

/// A metric whose number cannot be taken, as it is NaN or infinite where it counts.
struct Divergence {
  std::string metric;
  std::string text;  ///< as it is written: "nan", "-inf", "null"
  int line = 0;      ///< from 1
};

/// "diverged: loss is nan at line 3".
[[nodiscard]] Message describe(const Divergence& divergence);

struct OutputMetrics {
  std::map<std::string, double> values;
  std::vector<Divergence> diverged;  ///< metrics that are not among the values for that
};

/// The metrics that the output has, line by line (a carriage return ends a line too, as progress bars use it). "nan"
/// and "inf", in any spelling, count as a match where a number in their place would be one: the metric has diverged
/// when that is what `take` takes (last, first), when the series ends so (median), or when it is anywhere (mean, sum);
/// min and max pass over it. The same for NaN, Infinity, "nan" and null in JSON lines; null matters at the end only.
[[nodiscard]] OutputMetrics metrics_in_output(const std::vector<SweepMetric>& metrics, std::string_view output);

/// Lines "name value" (a tab or blanks between, # starts a comment); of a name given several times the last counts.
/// Errors (corrupt): a line of another form, with its number; a last value that is not finite.
[[nodiscard]] base::Result<std::map<std::string, double>> metrics_in_file(std::string_view text,
                                                                          std::string_view file_name);

/// "the last match of ..." for people.
[[nodiscard]] std::string describe(const SweepMetric& metric);

}  // namespace ridgeline::schema
