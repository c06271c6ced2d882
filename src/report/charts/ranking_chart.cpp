// SPDX-License-Identifier: Apache-2.0
#include "analysis/comparison.hpp"
#include "report/charts/chart_parts.hpp"
#include "report/charts/charts.hpp"
#include "report/messages.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::report {

using base::Json;

Chart ranking_chart(const TuneView& view) {
  constexpr std::size_t kRows = 12;
  auto shown = top_trials(view, kRows);
  std::erase_if(shown, [&](const auto* entry) { return !has_objective(view.run, *entry); });
  std::vector<const schema::TunedTrial*> trials;
  std::map<std::string_view, Json> data;
  std::vector<AxisReading> readings;
  for (std::size_t row = 0; row < shown.size(); ++row) {
    const auto& entry = *shown[row];
    trials.push_back(entry.trial);
    const auto a = view.objective.convert(entry.measured.interval.low);
    const auto b = view.objective.convert(entry.measured.interval.high);
    const auto role = role_of(view, entry);
    const AxisReading reading{view.objective.convert(entry.measured.value), std::min(a, b), std::max(a, b),
                              role != "other"};
    readings.push_back(reading);
    data[role].push_back(datum({row, rounded(reading.value), rounded(reading.low), rounded(reading.high)},
                               trial_tip(view, entry), entry.trial->id));
  }
  Chart chart;
  chart.id = "ranking";
  chart.title = view.text(messages::chart_ranking(objective_name(view.run.request.objective, true)));
  const auto& best = *shown.front();
  const auto& ends = best.measured.interval;
  const bool inverse = view.objective.inverse;
  chart.alternative = view.text(messages::chart_leads({.trial = best.trial->id,
                                                       .value = view.objective.quantity(best.measured.value),
                                                       .low = view.objective.quantity(inverse ? ends.high : ends.low),
                                                       .high = view.objective.quantity(inverse ? ends.low : ends.high),
                                                       .shown = std::ssize(shown),
                                                       .right = schema::higher_is_better(view.run.request.objective)}));
  chart.option["xAxis"] =
      value_axis(fmt::format("{}, {}", view.objective_title(), view.objective.unit), view.objective.decimals);
  limit_axis(chart.option["xAxis"], readings);
  chart.option["yAxis"] = trial_axis(trial_labels(view, trials));
  chart.option["series"] = Json::array();
  for (const auto role : trial_roles())
    if (data.count(role) != 0)
      chart.option["series"].push_back({{"type", "custom"},
                                        {"renderItem", "whisker"},
                                        {"name", role_title(role)},
                                        {"role", role},
                                        {"encode", {{"x", {1, 2, 3}}, {"y", 0}}},
                                        {"data", data[role]}});
  chart.height_px = 100 + 34 * static_cast<int>(shown.size());
  return chart;
}

Chart effects_chart(const TuneView& view) {
  std::vector<std::string> labels;
  std::map<std::string, Json> data;
  std::vector<AxisReading> readings{{0, 0, 0, true}};
  schema::Message largest;
  std::optional<int> finalist;
  double most = 0;
  for (const auto& pair : view.run.pairs) {
    if (pair.purpose != schema::PairPurpose::leave_one_out || !pair.comparison) continue;
    const auto contribution = analysis::inverted(*pair.comparison);
    const auto value = schema::effective_value(pair.a, pair.setting);
    const auto name = fmt::format("{}={}", pair.setting, value ? value->to_text() : "default");
    const auto* trial = analysis::trial_of(view.ranking, pair.a);
    if (trial != nullptr) finalist = trial->id;
    const auto percent_of = [](double ratio) { return (ratio - 1) * 100; };
    // Wide intervals do not hide how far the contributions are apart.
    readings.push_back(
        {percent_of(contribution.ratio), percent_of(contribution.low), percent_of(contribution.high), true});
    const auto role = contribution.verdict == schema::Verdict::faster   ? "best"
                      : contribution.verdict == schema::Verdict::slower ? "failed"
                                                                        : "other";
    Json row{{"value",
              {labels.size(), rounded(percent_of(contribution.ratio)), rounded(percent_of(contribution.low)),
               rounded(percent_of(contribution.high))}},
             {"tip",
              {name, view.text(messages::chart_contribution(
                         {.change = change_of(contribution), .interval = change_interval_of(contribution)}))}}};
    if (trial != nullptr) {
      row["tip"].push_back(fmt::format("in trial {}", trial->id));
      row["trial"] = trial->id;
    }
    data[role].push_back(std::move(row));
    labels.push_back(name);
    if (!analysis::was_dropped(view.run, pair) && (largest.empty() || contribution.ratio > most)) {
      most = contribution.ratio;
      largest = messages::chart_most_effect(
          {.setting = name, .change = change_of(contribution), .interval = change_interval_of(contribution)});
    }
  }
  Chart chart;
  chart.id = "effects";
  chart.title = view.text(messages::chart_effects(finalist));
  chart.alternative = view.text(largest.empty() ? messages::chart_no_effect(!labels.empty()) : largest);
  chart.option["xAxis"] = value_axis("Contribution, %", 0);
  limit_axis(chart.option["xAxis"], readings);
  chart.option["yAxis"] = trial_axis(labels);
  chart.option["yAxis"]["labels"] = "setting";
  chart.option["series"] = Json::array();
  const std::map<std::string, std::string> titles{
      {"best", "Helps"}, {"failed", "Hurts"}, {"other", "No clear difference"}};
  bool first = true;
  for (const auto& [role, rows] : data) {
    Json series{{"type", "custom"},
                {"renderItem", "whisker"},
                {"name", titles.at(role)},
                {"role", role},
                {"encode", {{"x", {1, 2, 3}}, {"y", 0}}},
                {"data", rows}};
    if (first) series["markLine"] = {{"data", Json::array({{{"xAxis", 0}}})}};
    first = false;
    chart.option["series"].push_back(std::move(series));
  }
  chart.height_px = 110 + 36 * static_cast<int>(labels.size());
  return chart;
}

}  // namespace ridgeline::report
