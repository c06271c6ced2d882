// SPDX-License-Identifier: Apache-2.0
#include "analysis/comparison.hpp"
#include "report/charts/chart_parts.hpp"
#include "report/charts/charts.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::report {

using base::Json;

Chart ranking_chart(const TuneView& view) {
  constexpr std::size_t kRows = 12;
  auto shown = top_trials(view, kRows);
  std::erase_if(shown, [&](const auto* entry) { return !has_objective(view.run, *entry); });
  std::vector<const schema::TunedTrial*> trials;
  std::map<std::string_view, Json> data;
  for (std::size_t row = 0; row < shown.size(); ++row) {
    const auto& entry = *shown[row];
    trials.push_back(entry.trial);
    const auto a = view.objective.convert(entry.measured.interval.low);
    const auto b = view.objective.convert(entry.measured.interval.high);
    data[role_of(view, entry)].push_back(datum(
        {row, rounded(view.objective.convert(entry.measured.value)), rounded(std::min(a, b)), rounded(std::max(a, b))},
        trial_tip(view, entry), entry.trial->id));
  }
  Chart chart;
  chart.id = "ranking";
  chart.title = fmt::format("{} of the best trials, with 95 % intervals", objective_title(view.run.request.objective));
  const auto& best = *shown.front();
  chart.alternative =
      fmt::format("Trial {} leads with {} (95 % interval {}); {} shown, {} is better.", best.trial->id,
                  view.objective.text(best.measured.value), view.objective.interval(best.measured.interval),
                  counted(shown.size(), "trial"),
                  schema::higher_is_better(view.run.request.objective) ? "further right" : "further left");
  chart.option["xAxis"] = value_axis(
      fmt::format("{}, {}", objective_title(view.run.request.objective), view.objective.unit), view.objective.decimals);
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
  std::string largest;
  std::string finalist = "the best finalist";
  double most = 0;
  for (const auto& pair : view.run.pairs) {
    if (pair.purpose != schema::PairPurpose::leave_one_out || !pair.comparison) continue;
    const auto contribution = analysis::inverted(*pair.comparison);
    const auto value = schema::effective_value(pair.a, pair.setting);
    const auto name = fmt::format("{}={}", pair.setting, value ? value->to_text() : "default");
    const auto* trial = analysis::trial_of(view.ranking, pair.a);
    if (trial != nullptr) finalist = fmt::format("the best finalist (trial {})", trial->id);
    const auto percent_of = [](double ratio) { return rounded((ratio - 1) * 100); };
    const auto role = contribution.verdict == schema::Verdict::faster   ? "best"
                      : contribution.verdict == schema::Verdict::slower ? "failed"
                                                                        : "other";
    Json row{
        {"value",
         {labels.size(), percent_of(contribution.ratio), percent_of(contribution.low), percent_of(contribution.high)}},
        {"tip",
         {name, fmt::format("contribution {} ({})", change_cell(contribution), change_interval_cell(contribution))}}};
    if (trial != nullptr) {
      row["tip"].push_back(fmt::format("in trial {}", trial->id));
      row["trial"] = trial->id;
    }
    data[role].push_back(std::move(row));
    labels.push_back(name);
    if (!analysis::was_dropped(view.run, pair) && (largest.empty() || contribution.ratio > most)) {
      most = contribution.ratio;
      largest = fmt::format("{} contributes most: {} (95 % interval {}).", name, change_cell(contribution),
                            change_interval_cell(contribution));
    }
  }
  Chart chart;
  chart.id = "effects";
  chart.title = "What each setting of " + finalist + " contributes, with 95 % intervals";
  chart.alternative = !largest.empty() ? largest
                      : labels.empty() ? std::string("No setting could be measured alone.")
                                       : std::string("None of these settings is in the recommendation.");
  chart.option["xAxis"] = value_axis("Contribution, %", 0);
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
