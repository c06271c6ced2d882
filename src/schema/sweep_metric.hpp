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

/// The metrics that the output has, line by line (a carriage return ends a line too, as progress bars use it). Text
/// that is no finite number does not count as a match.
[[nodiscard]] std::map<std::string, double> metrics_in_output(const std::vector<SweepMetric>& metrics,
                                                              std::string_view output);

/// Lines "name value" (a tab or blanks between, # starts a comment); of a name given several times the last counts.
/// Errors (corrupt): a line of another form, with its number.
[[nodiscard]] base::Result<std::map<std::string, double>> metrics_in_file(std::string_view text,
                                                                          std::string_view file_name);

/// "the last match of ..." for people.
[[nodiscard]] std::string describe(const SweepMetric& metric);

}  // namespace ridgeline::schema
