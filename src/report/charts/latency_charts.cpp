// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "report/charts/chart_parts.hpp"
#include "report/charts/charts.hpp"
#include "report/messages.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::report {
namespace {

using base::Json;

std::vector<double> sorted_samples(const analysis::RankedTrial& entry) {
  std::vector<double> samples;
  if (entry.outcome->measurement) samples = entry.outcome->measurement->latency_ns;
  std::sort(samples.begin(), samples.end());
  return samples;
}

}  // namespace

Chart distribution_chart(const TuneView& view) {
  constexpr std::size_t kRows = 10;
  std::vector<const schema::TunedTrial*> trials;
  std::map<std::string_view, Json> data;
  std::vector<AxisReading> readings;
  std::string alternative;
  for (const auto* entry : top_trials(view, kRows)) {
    const auto samples = sorted_samples(*entry);
    if (samples.empty()) continue;
    const auto quantile = [&](double q) { return view.latency.convert(stats::sorted_quantile(samples, q)); };
    Json value = Json::array({trials.size()});
    for (const auto q : {0.05, 0.25, 0.5, 0.75, 0.95}) value.push_back(rounded(quantile(q)));
    const auto role = role_of(view, *entry);
    // The boxes of those that matter are whole; their whiskers only if they are not far longer.
    for (const auto q : {0.5, 0.25, 0.75})
      if (q == 0.5 || role != "other")
        readings.push_back({quantile(q), quantile(0.05), quantile(0.95), role != "other"});
    const auto low = view.latency.quantity(stats::sorted_quantile(samples, 0.05));
    const auto high = view.latency.quantity(stats::sorted_quantile(samples, 0.95));
    auto tip = trial_tip(view, *entry);
    tip.push_back(view.text(messages::chart_between({.low = low, .high = high})));
    if (alternative.empty())
      alternative = view.text(messages::chart_nine_of_ten({.trial = entry->trial->id, .low = low, .high = high}));
    data[role].push_back(datum(std::move(value), std::move(tip), entry->trial->id));
    trials.push_back(entry->trial);
  }
  Chart chart;
  chart.id = "distributions";
  chart.title = view.text(messages::chart_distributions());
  chart.alternative = alternative;
  chart.option["xAxis"] = value_axis("Latency, " + view.latency.unit, std::max(0, view.latency.decimals - 1));
  limit_axis(chart.option["xAxis"], readings);
  chart.option["yAxis"] = trial_axis(trial_labels(view, trials));
  chart.option["series"] = Json::array();
  for (const auto role : trial_roles())
    if (data.count(role) != 0)
      chart.option["series"].push_back({{"type", "custom"},
                                        {"renderItem", "box"},
                                        {"name", role_title(role)},
                                        {"role", role},
                                        {"encode", {{"x", {1, 2, 3, 4, 5}}, {"y", 0}}},
                                        {"data", data[role]}});
  chart.height_px = 100 + 34 * static_cast<int>(trials.size());
  return chart;
}

Chart ecdf_chart(const TuneView& view) {
  constexpr int kSteps = 100;  // a hundred points draw the curve; the raw samples are in the store
  Chart chart;
  chart.id = "ecdf";
  chart.title = view.text(messages::chart_ecdf());
  chart.option["xAxis"] = value_axis("Latency, " + view.latency.unit, std::max(0, view.latency.decimals - 1));
  chart.option["yAxis"] = {{"type", "value"}, {"name", "Share, %"}, {"min", 0}, {"max", 100}, {"decimals", 0}};
  chart.option["series"] = Json::array();
  std::vector<AxisReading> readings;
  std::vector<std::string> parts;
  std::size_t others = 0;
  for (const auto* entry : top_trials(view, view.ranking.size())) {
    const auto role = role_of(view, *entry);
    const auto samples = sorted_samples(*entry);
    if (samples.size() < 2) continue;
    const auto is_lead = role == "best" || role == "current";
    if (!is_lead && ++others > 2) continue;
    const auto quantile = [&](double q) { return view.latency.convert(stats::sorted_quantile(samples, q)); };
    Json data = Json::array();
    for (int i = 0; i <= kSteps; ++i) {
      const auto q = static_cast<double>(i) / kSteps;
      data.push_back({rounded(quantile(q)), i});
    }
    readings.push_back({quantile(0.95), quantile(0), quantile(1), true});
    readings.push_back({quantile(0.05), quantile(0), quantile(1), true});
    if (is_lead)
      parts.push_back(view.text(messages::chart_stays_below(
          {.trial = entry->trial->id, .high = view.latency.quantity(stats::sorted_quantile(samples, 0.95))})));
    const auto name = is_lead ? fmt::format("#{} {}", entry->trial->id, role == "best" ? "recommended" : "in use now")
                              : fmt::format("#{}", entry->trial->id);
    chart.option["series"].push_back({{"type", "line"},
                                      {"name", name},
                                      {"role", is_lead ? std::string(role) : "other"},
                                      {"symbol", "none"},
                                      {"data", std::move(data)}});
  }
  limit_axis(chart.option["xAxis"], readings);  // a curve leaves the chart rather than shrink to its outliers
  chart.alternative =
      parts.empty() ? view.text(messages::chart_no_ecdf()) : sentence(fmt::format("{}", fmt::join(parts, ", ")));
  chart.height_px = 320;
  return chart;
}

}  // namespace ridgeline::report
