// SPDX-License-Identifier: Apache-2.0
#include "report/charts/chart_parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "report/messages.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {

using base::Json;

std::string_view role_of(const TuneView& view, const analysis::RankedTrial& entry) {
  if (view.recommended() == entry.trial && view.changes()) return "best";
  if (view.current() == entry.trial) return "current";
  return entry.rank == 1 ? "tie" : "other";
}

std::string_view role_title(std::string_view role) noexcept {
  if (role == "best") return "Recommended";
  if (role == "current") return "In use now";
  if (role == "tie") return "Tied with the best";
  return "Others";
}

const std::vector<std::string_view>& trial_roles() {
  static const std::vector<std::string_view> roles{"best", "current", "tie", "other"};
  return roles;
}

std::vector<const analysis::RankedTrial*> top_trials(const TuneView& view, std::size_t limit) {
  std::vector<const analysis::RankedTrial*> out;
  for (const auto& entry : view.ranking)
    if (out.size() < limit || entry.trial == view.current() || entry.trial == view.recommended()) out.push_back(&entry);
  return out;
}

std::vector<std::string> trial_labels(const TuneView& view, const std::vector<const schema::TunedTrial*>& trials) {
  std::map<std::string, int> shared_by;
  for (const auto* trial : trials)
    for (const auto& setting : view.differences(trial->configuration)) ++shared_by[setting];
  std::vector<std::string> labels;
  for (const auto* trial : trials) {
    auto settings = view.differences(trial->configuration);
    std::stable_sort(settings.begin(), settings.end(),
                     [&](const auto& a, const auto& b) { return shared_by[a] < shared_by[b]; });
    labels.push_back(fmt::format("#{}\n{}", trial->id,
                                 settings.empty() ? view.difference(trial->configuration)
                                                  : one_line(fmt::format("{}", fmt::join(settings, " ")))));
  }
  return labels;
}

Json trial_tip(const TuneView& view, const analysis::RankedTrial& entry) {
  using enum messages::ChartTrialRole;
  const auto role = role_of(view, entry);
  const auto head = view.text(messages::chart_trial({.trial = entry.trial->id,
                                                     .role = role == "best"      ? best
                                                             : role == "current" ? current
                                                                                 : other}));
  return Json::array({head, view.difference(entry.trial->configuration),
                      has_objective(view.run, entry)
                          ? fmt::format("{} {} ({})", view.objective_title(), view.objective.text(entry.measured.value),
                                        view.objective.interval(entry.measured.interval))
                          : view.text(messages::chart_too_few_for_p99()),
                      fmt::format("Median {}, {}", view.latency.text(entry.summary.median_ns),
                                  view.rate.text(entry.summary.throughput_per_s)),
                      fmt::format("{} samples", entry.summary.count)});
}

Json datum(Json value, Json tip, int trial) {
  return {{"value", std::move(value)}, {"tip", std::move(tip)}, {"trial", trial}};
}

Json datum(Json value, Json tip, int trial, double low, double high) {
  auto out = datum(std::move(value), std::move(tip), trial);
  if (low < high && std::isfinite(low) && std::isfinite(high))
    out["interval"] = Json::array({rounded(low), rounded(high)});
  return out;
}

Json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

void limit_axis(Json& axis, const std::vector<AxisReading>& readings) {
  constexpr double kLeastSpan = 0.1;  // of a tie
  constexpr double kMostSpans = 3;    // on either side
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const auto& reading : readings) {
    if (!reading.matters) continue;
    least = std::min(least, reading.value);
    most = std::max(most, reading.value);
  }
  if (least > most) return;
  const double margin = kMostSpans * std::max(most - least, kLeastSpan * std::abs(most));
  const double from = least - margin;
  const double to = most + margin;
  double low = least;
  double high = most;
  bool is_all = true;
  for (const auto& reading : readings) {
    is_all = is_all && reading.low >= from && reading.high <= to;
    if (reading.value < from || reading.value > to) continue;
    low = std::min(low, reading.matters ? std::max(reading.low, from) : reading.value);
    high = std::max(high, reading.matters ? std::min(reading.high, to) : reading.value);
  }
  if (is_all) return;
  axis["from"] = rounded(low);
  axis["to"] = rounded(high);
}

Json value_axis(const std::string& name, int decimals) {
  return {{"type", "value"}, {"name", name}, {"scale", true}, {"decimals", decimals}};
}

Json trial_axis(const std::vector<std::string>& labels) {
  return {{"type", "category"}, {"data", labels}, {"inverse", true}, {"labels", "trial"}};
}

}  // namespace ridgeline::report
