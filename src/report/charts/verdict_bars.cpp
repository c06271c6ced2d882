// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "report/charts/charts.hpp"
#include "report/messages.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {
namespace {

Bars::Bar bar_of(const TuneView& view, const std::string& label, const analysis::RankedTrial& ranked, Tone tone) {
  const auto& measured = ranked.measured;
  const auto a = view.objective.convert(measured.interval.low);
  const auto b = view.objective.convert(measured.interval.high);
  return {label,
          view.objective.text(measured.value),
          view.objective.convert(measured.value),
          std::min(a, b),
          std::max(a, b),
          tone};
}

/// The best trial with other settings than those in use.
const analysis::RankedTrial* best_other(const TuneView& view) {
  for (const auto& ranked : view.ranking)
    if (ranked.trial != view.current() && has_objective(view.run, ranked)) return &ranked;
  return nullptr;
}

}  // namespace

Bars verdict_bars(const TuneView& view) {
  const auto* now = view.current() != nullptr ? view.ranked(view.current()->id) : nullptr;
  if (now == nullptr || !has_objective(view.run, *now)) return {};
  const auto* recommended =
      view.changes() && view.recommended() != nullptr ? view.ranked(view.recommended()->id) : nullptr;
  const auto* other = view.changes() ? recommended : best_other(view);
  if (other == nullptr || !has_objective(view.run, *other)) return {};
  Bars out{view.text(messages::chart_before_after(objective_name(view.run.request.objective, true))), {}};
  out.bars.push_back(bar_of(view, "Now", *now, Tone::neutral));
  out.bars.push_back(view.changes()
                         ? bar_of(view, "Recommended", *other, Tone::good)
                         : bar_of(view, fmt::format("Best other, trial {}", other->trial->id), *other, Tone::neutral));
  if (const auto turns = view.changes() ? interleaved_medians(view) : std::nullopt) {
    // The interval is of the ratio of the two.
    const auto& gain = *view.run.verdict->gain;
    out.bars[0] = {"Now", view.objective.text(turns->a_ns), view.objective.convert(turns->a_ns), 0, 0, Tone::neutral};
    out.bars[1] = {"Recommended",
                   view.objective.text(turns->b_ns),
                   view.objective.convert(turns->b_ns),
                   view.objective.convert(turns->a_ns / gain.high),
                   view.objective.convert(turns->a_ns / gain.low),
                   Tone::good};
  }
  return out;
}

}  // namespace ridgeline::report
