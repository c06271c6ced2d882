// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "report/charts/chart_parts.hpp"
#include "report/charts/charts.hpp"
#include "report/messages.hpp"

namespace ridgeline::report {

using base::Json;

Chart tradeoff_chart(const TuneView& view) {
  std::map<std::string_view, Json> data;
  std::vector<std::pair<double, Json>> front;
  schema::Message fastest;
  double top_rate = 0;
  std::vector<AxisReading> readings;
  for (const auto& entry : view.ranking) {
    const auto x = view.latency.convert(entry.summary.median_ns);
    const auto y = view.rate.convert(entry.summary.throughput_per_s);
    auto point = datum({rounded(x), rounded(y)}, trial_tip(view, entry), entry.trial->id);
    const bool is_in_front = std::find(view.front.begin(), view.front.end(), entry.trial->id) != view.front.end();
    readings.push_back({x, x, x, is_in_front || role_of(view, entry) != "other"});
    if (is_in_front) front.emplace_back(x, Json::array({rounded(x), rounded(y)}));
    data[role_of(view, entry)].push_back(std::move(point));
    if (entry.summary.throughput_per_s > top_rate) {
      top_rate = entry.summary.throughput_per_s;
      fastest = messages::chart_most_throughput({.trial = entry.trial->id,
                                                 .rate = view.rate.quantity(top_rate),
                                                 .median = view.latency.quantity(entry.summary.median_ns)});
    }
  }
  std::sort(front.begin(), front.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Json line = Json::array();
  for (auto& point : front) line.push_back(std::move(point.second));
  Chart chart;
  chart.id = "tradeoff";
  chart.title = view.text(messages::chart_tradeoff(false));
  chart.alternative = view.text(fastest);
  chart.option["xAxis"] = value_axis("Median latency, " + view.latency.unit, std::max(0, view.latency.decimals - 1));
  limit_axis(chart.option["xAxis"], readings);
  chart.option["yAxis"] = value_axis("Throughput, items/s", std::max(0, view.rate.decimals - 1));
  chart.option["series"] = Json::array();
  if (line.size() > 1)
    chart.option["series"].push_back({{"type", "line"},
                                      {"name", "Pareto front"},
                                      {"role", "front"},
                                      {"symbol", "none"},
                                      {"step", "end"},
                                      {"data", std::move(line)}});
  for (auto role = trial_roles().rbegin(); role != trial_roles().rend(); ++role)
    if (data.count(*role) != 0)
      chart.option["series"].push_back(
          {{"type", "scatter"}, {"name", role_title(*role)}, {"role", *role}, {"data", data[*role]}});
  chart.height_px = 380;
  return chart;
}

Chart timeline_chart(const TuneView& view) {
  std::map<std::string, Json> data;
  Json best = Json::array();
  double best_cost = 0;
  double end_s = 0;
  int best_id = 0;
  std::int64_t improvements = 0;
  std::vector<AxisReading> readings;
  std::vector<const schema::TunedTrial*> order;
  for (const auto& trial : view.run.trials) order.push_back(&trial);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->started_s < b->started_s; });
  for (const auto* trial : order) {
    const auto* outcome = view.outcome(*trial);
    const auto* entry = view.ranked(trial->id);
    if (outcome == nullptr) continue;
    const auto finished_s = trial->started_s + (trial->cached ? 0 : outcome->duration_s);
    end_s = std::max(end_s, finished_s);
    if (entry == nullptr) {
      const auto role = outcome->status == schema::TrialStatus::rejected_accuracy ? "rejected" : "failed";
      data[role].push_back(
          datum({rounded(trial->started_s), 0},
                Json::array({view.text(messages::chart_ended({.trial = trial->id, .ending = view.ending(*trial)})),
                             view.difference(trial->configuration)}),
                trial->id));
      continue;
    }
    if (!has_objective(view.run, *entry)) continue;
    const auto shown = view.objective.convert(entry->measured.value);
    const auto value = rounded(shown);
    readings.push_back({shown, shown, shown, role_of(view, *entry) != "other"});
    const auto role =
        view.ending(*trial) == "stopped early" ? std::string("stopped_early") : std::string(role_of(view, *entry));
    data[role == "tie" ? "other" : role].push_back(
        datum({rounded(trial->started_s), value}, trial_tip(view, *entry), trial->id));
    if (entry->meets_constraints && (best_id == 0 || entry->measured.value < best_cost)) {
      best_cost = entry->measured.value;
      best_id = trial->id;
      ++improvements;
      best.push_back({rounded(trial->started_s), value});
    }
  }
  Chart chart;
  chart.id = "timeline";
  chart.title = view.text(messages::chart_search());
  using Times = std::optional<std::int64_t>;
  chart.alternative = view.text(
      best_id == 0 ? messages::chart_no_number()
                   : messages::chart_improved({.times = improvements > 1 ? Times(improvements - 1) : std::nullopt,
                                               .value = view.objective.quantity(best_cost),
                                               .trial = best_id}));
  if (best_id != 0) best.push_back({rounded(end_s), rounded(view.objective.convert(best_cost))});
  chart.option["xAxis"] = {{"type", "value"}, {"name", "Seconds since the start"}, {"min", 0}, {"decimals", 0}};
  chart.option["yAxis"] = Json::array({value_axis(fmt::format("{}, {}", view.objective_title(), view.objective.unit),
                                                  std::max(0, view.objective.decimals - 1)),
                                       {{"type", "value"}, {"min", 0}, {"max", 1}, {"show", false}}});
  limit_axis(chart.option["yAxis"][0], readings);
  chart.option["series"] = Json::array();
  chart.option["series"].push_back({{"type", "line"},
                                    {"name", "Best so far"},
                                    {"role", "front"},
                                    {"symbol", "none"},
                                    {"step", "end"},
                                    {"data", std::move(best)}});
  const std::vector<std::pair<std::string, std::string>> kinds{
      {"other", "Trial"},      {"stopped_early", "Stopped early"}, {"current", "In use now"},
      {"best", "Recommended"}, {"rejected", "Rejected: accuracy"}, {"failed", "Failed"}};
  for (const auto& [role, name] : kinds) {
    if (data.count(role) == 0) continue;
    Json series{{"type", "scatter"}, {"name", name}, {"role", role}, {"data", data[role]}};
    if (role == "failed" || role == "rejected") series["yAxisIndex"] = 1;  // they have no value: drawn along the bottom
    chart.option["series"].push_back(std::move(series));
  }
  chart.height_px = 360;
  return chart;
}

}  // namespace ridgeline::report
