// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "report/charts/chart_parts.hpp"
#include "report/charts/charts.hpp"
#include "report/messages.hpp"

namespace ridgeline::report {
namespace {

using analysis::LoadPoint;
using base::Json;

constexpr std::size_t kSeriesRoles = 4;  // "series-1" ... of the theme

Json point_tip(const TuneView& view, const LoadPoint& point) {
  auto lines = Json::array(
      {view.text(messages::chart_load_trial(
           {.trial = point.trial->id,
            .load = messages::tune_load({.batch = point.batch, .sessions = point.sessions})})),
       view.text(messages::chart_load({.rate = view.rate.quantity(point.ranked->summary.throughput_per_s),
                                       .median = view.latency.quantity(point.ranked->summary.median_ns)}))});
  if (point.memory_gb) lines.push_back(view.text(messages::chart_load_memory_of(*point.memory_gb)));
  if (!point.ranked->meets_constraints)
    lines.push_back(view.text(messages::constraint(point.ranked->broken_constraint)));
  if (!point.best_of_load) lines.push_back(view.text(messages::chart_load_as_answer()));
  return lines;
}

/// One line through the best of each load a number of sessions, with marks; `x` gives a point's place, nullopt leaves
/// it out.
template <typename X>
Json load_series(const TuneView& view, X x) {
  std::map<std::int64_t, std::pair<Json, Json>> by_sessions;  // line, marks
  for (const auto& point : view.load.points) {
    const std::optional<double> at = point.ranked != nullptr ? x(point) : std::nullopt;
    if (!at) continue;
    const auto place = Json::array({rounded(*at), rounded(view.rate.convert(point.ranked->summary.throughput_per_s))});
    auto& [line, marks] = by_sessions.try_emplace(point.sessions, Json::array(), Json::array()).first->second;
    if (point.best_of_load) line.push_back(place);
    auto mark = datum(place, point_tip(view, point), point.trial->id);
    mark["mark"] = fmt::format("{}", point.batch);
    marks.push_back(std::move(mark));
  }
  auto series = Json::array();
  std::size_t index = 0;
  for (auto& [sessions, data] : by_sessions) {
    const auto role = fmt::format("series-{}", 1 + index++ % kSeriesRoles);
    const auto name = counted(static_cast<std::size_t>(sessions), "session");
    if (data.first.size() > 1)
      series.push_back(
          {{"type", "line"}, {"name", name}, {"role", role}, {"symbol", "none"}, {"data", std::move(data.first)}});
    series.push_back(
        {{"type", "scatter"}, {"name", name}, {"role", role}, {"marks", true}, {"data", std::move(data.second)}});
  }
  return series;
}

Chart empty_chart(const TuneView& view, std::string id, std::string title) {
  Chart chart;
  chart.id = std::move(id);
  chart.title = std::move(title);
  chart.option["yAxis"] = value_axis("Throughput, items/s", std::max(0, view.rate.decimals - 1));
  chart.height_px = 380;
  return chart;
}

}  // namespace

Chart load_chart(const TuneView& view) {
  auto chart = empty_chart(view, "load", view.text(messages::chart_tradeoff(true)));
  chart.option["xAxis"] = value_axis("Median latency, " + view.latency.unit, std::max(0, view.latency.decimals - 1));
  auto series = load_series(view, [&](const LoadPoint& point) {
    return std::optional(view.latency.convert(point.ranked->summary.median_ns));
  });
  Json front = Json::array();
  for (const auto id : view.load.front)
    if (const auto* entry = view.ranked(id))
      front.push_back({rounded(view.latency.convert(entry->summary.median_ns)),
                       rounded(view.rate.convert(entry->summary.throughput_per_s))});
  if (front.size() > 1)
    series.insert(series.begin(), Json{{"type", "line"},
                                       {"name", "Pareto front"},
                                       {"role", "front"},
                                       {"symbol", "none"},
                                       {"step", "end"},
                                       {"data", std::move(front)}});
  chart.option["series"] = std::move(series);
  if (const auto* top = view.load.highest_throughput)
    chart.alternative =
        view.text(messages::chart_most_throughput({.trial = top->trial->id,
                                                   .rate = view.rate.quantity(top->summary.throughput_per_s),
                                                   .median = view.latency.quantity(top->summary.median_ns)}));
  else
    chart.alternative = view.text(messages::chart_no_load());
  return chart;
}

std::optional<Chart> load_memory_chart(const TuneView& view) {
  const auto known = std::count_if(view.load.points.begin(), view.load.points.end(), [](const auto& point) {
    return point.ranked != nullptr && point.memory_gb.has_value();
  });
  if (known < 2) return std::nullopt;
  auto chart = empty_chart(view, "load-memory", view.text(messages::chart_load_memory()));
  chart.option["xAxis"] = value_axis("Peak GPU memory of the worker, GB", 1);
  chart.option["series"] = load_series(view, [](const LoadPoint& point) { return point.memory_gb; });
  if (const auto* best = view.load.per_gb)
    chart.alternative = view.text(messages::chart_most_per_gb(
        {.trial = best->trial->id, .rate = view.rate.quantity(best->summary.throughput_per_s)}));
  return chart;
}

}  // namespace ridgeline::report
