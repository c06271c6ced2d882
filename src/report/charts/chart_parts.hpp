// SPDX-License-Identifier: Apache-2.0
// What the charts share. The vocabulary of Chart::option beyond ECharts' own, resolved by html/report.js:
//   series.role           "best" "current" "tie" "other" "front" "failed" "rejected" "stopped_early": the theme's
//   colour
//                         and "series-1" ... "series-4" for several of a kind
//   series.marks          each point shows data[].mark beside it
//   series.small          many points in a row: small round ones
//   option.panels         that many plots above each other, axes and series by gridIndex; axis.bare: no labels
//   series.renderItem     "whisker" ([row, value, low, high]) or "box" ([row, p5, p25, p50, p75, p95])
//   data[].interval       [low, high] of a scatter's point, drawn upright
//   data[].tip            tooltip lines; data[].trial: the trial whose table row a click shows
//   axis.labels "trial"   category texts "#7\nlong form": the long form where there is room
//   axis.decimals         fixed decimals of the labels
//   axis.scale            ends at round numbers near the values, at least a fifth of them apart
//   axis.from, axis.to    what of the values matters; those beyond are arrows at the end of the axis
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "report/tune_view.hpp"

namespace ridgeline::report {

/// "best" for the recommended trial, "current", "tie" for others tied with the best, else "other".
[[nodiscard]] std::string_view role_of(const TuneView& view, const analysis::RankedTrial& entry);
[[nodiscard]] std::string_view role_title(std::string_view role) noexcept;
/// All four roles, in the order legends show them.
[[nodiscard]] const std::vector<std::string_view>& trial_roles();

/// The best `limit` trials, best first; the current and the recommended one always among them.
[[nodiscard]] std::vector<const analysis::RankedTrial*> top_trials(const TuneView& view, std::size_t limit);

/// Category texts: "#7\nparallel_sessions=4 enable_cuda_graph=true". There is room for little, so what the fewest of
/// these trials have comes first.
[[nodiscard]] std::vector<std::string> trial_labels(const TuneView& view,
                                                    const std::vector<const schema::TunedTrial*>& trials);
/// Tooltip: id and role, settings, the objective with interval, throughput, samples.
[[nodiscard]] base::Json trial_tip(const TuneView& view, const analysis::RankedTrial& entry);

/// {"value": ..., "tip": ..., "trial": id}
[[nodiscard]] base::Json datum(base::Json value, base::Json tip, int trial);
/// The same with the interval of its y value, if that is known.
[[nodiscard]] base::Json datum(base::Json value, base::Json tip, int trial, double low, double high);

/// A number rounded to six significant digits: goldens and pages stay small; not finite becomes null.
[[nodiscard]] base::Json rounded(double value);

/// What a point or a whisker needs of an axis.
struct AxisReading {
  double value = 0;
  double low = 0;
  double high = 0;
  bool matters = false;  ///< the answer is about it: always within the axis, its interval too if that is not far wider
};

/// Sets axis.from and axis.to if some readings are so far from those that matter that they would flatten the chart.
void limit_axis(base::Json& axis, const std::vector<AxisReading>& readings);

/// Value axis that need not start at zero.
[[nodiscard]] base::Json value_axis(const std::string& name, int decimals);
/// Category axis with one trial a row, first on top.
[[nodiscard]] base::Json trial_axis(const std::vector<std::string>& labels);

}  // namespace ridgeline::report
