// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_charts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/charts/chart_parts.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/profile/profile_cells.hpp"
#include "report/profile/profile_figures.hpp"
#include "report/profile/profile_memory.hpp"

namespace ridgeline::report {
namespace {

using base::Json;
using schema::ProfileModule;
using schema::ProfileRun;

constexpr double kNsPerMs = 1e6;
constexpr std::size_t kMostProfilePoints = 400;

double milliseconds(std::int64_t ns) { return static_cast<double>(ns) / kNsPerMs; }

std::string chart_ns_text(std::int64_t ns) { return base::format_duration(static_cast<double>(ns)); }

Json log_axis(const std::string& name) { return {{"type", "log"}, {"name", name}, {"logBase", 10}}; }

/// Rows whose children are operations, nodes or nothing: the modules that do the work.
std::vector<const ProfileModule*> working_modules(const ProfileRun& run) {
  const auto& rows = run.tables.modules;
  std::vector<bool> has_module_below(rows.size());
  for (const auto& row : rows)
    if (row.kind == schema::ModuleKind::module && row.parent >= 0)
      has_module_below[static_cast<std::size_t>(row.parent)] = true;
  std::vector<const ProfileModule*> out;
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (rows[i].kind == schema::ModuleKind::module && !has_module_below[i] && row_ns(run, rows[i]) > 0)
      out.push_back(&rows[i]);
  std::stable_sort(out.begin(), out.end(),
                   [&](const auto* a, const auto* b) { return row_ns(run, *a) > row_ns(run, *b); });
  return out;
}

Json profile_point(double x, double y, std::vector<std::string> tip) {
  return {{"value", Json::array({rounded(x), rounded(y)})}, {"tip", std::move(tip)}};
}

/// y = a + b x by least squares.
struct FittedLine {
  double intercept = 0;
  double slope = 0;
};
FittedLine least_squares(const std::vector<std::pair<double, double>>& points) {
  double x = 0;
  double y = 0;
  for (const auto& [px, py] : points) x += px, y += py;
  const auto n = static_cast<double>(points.size());
  x /= n;
  y /= n;
  double xx = 0;
  double xy = 0;
  for (const auto& [px, py] : points) xx += (px - x) * (px - x), xy += (px - x) * (py - y);
  const auto slope = xx > 0 ? xy / xx : 0;
  return {y - slope * x, slope};
}

constexpr std::string_view kOtherKinds = "others";
constexpr std::size_t kMostKinds = 4;
constexpr double kLeastIntensity = 0.01;  // FLOPs a byte: below it a node only moves data

/// Modules, or nodes, of one kind by the bytes that they move (MB) and their time (ms).
struct KindPoints {
  std::string name;
  double total_ms = 0;
  std::vector<std::pair<double, double>> points;
  Json data = Json::array();
};

/// The kinds with most time first, the rest as one.
std::vector<KindPoints> bytes_by_kind(const ProfileRun& run) {
  std::map<std::string, KindPoints> by_name;
  const auto add = [&](const std::string& kind, const std::string& name, std::int64_t bytes, std::int64_t ns) {
    if (bytes <= 0 || ns <= 0) return;
    auto& into = by_name[kind];
    into.name = kind;
    into.total_ms += milliseconds(ns);
    if (into.points.size() >= kMostProfilePoints) return;
    into.points.emplace_back(static_cast<double>(bytes) / 1e6, milliseconds(ns));
    into.data.push_back(profile_point(into.points.back().first, into.points.back().second,
                                      {name, base::format_bytes(static_cast<double>(bytes)), chart_ns_text(ns)}));
  };
  if (run.tables.devices.empty()) {
    for (const auto& node : run.tables.nodes) add(node.operation, node.name, node.bytes, node.rated_ns());
  } else {
    for (const auto* row : working_modules(run)) {
      auto kind = schema::module_class(row->name);
      while (!kind.empty() && std::string_view("#._- ").find(kind.back()) != std::string_view::npos) kind.pop_back();
      add(kind, row->path, row->bytes, rated_ns(run, *row));
    }
  }
  std::vector<KindPoints> kinds;
  for (auto& [name, kind] : by_name) kinds.push_back(std::move(kind));
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.total_ms > b.total_ms; });
  if (kinds.size() <= kMostKinds) return kinds;
  KindPoints rest;
  rest.name = kOtherKinds;
  for (std::size_t i = kMostKinds; i < kinds.size(); ++i) {
    rest.points.insert(rest.points.end(), kinds[i].points.begin(), kinds[i].points.end());
    for (auto& one : kinds[i].data) rest.data.push_back(std::move(one));
  }
  kinds.resize(kMostKinds);
  kinds.push_back(std::move(rest));
  return kinds;
}

/// `peak` in bytes per second, 0: unknown; `kind` "": of all.
schema::Message fit_of(const std::string& kind, const FittedLine& line, double peak) {
  // Megabytes a millisecond are gigabytes a second.
  const double rate = 1 / line.slope;
  const bool is_beyond_peak = peak > 0 && rate * 1e9 > kMostOfPeak * peak;
  return messages::chart_fit({.kind = kind,
                              .rate = is_beyond_peak ? std::nullopt : std::optional(rate),
                              .apart = std::round(std::max(0.0, line.intercept) * kNsPerMs)});
}

/// Where no kind alone shows how time grows with bytes: a line through all of them, added to the series, and what it
/// says.
schema::Message fit_across_kinds(const std::vector<KindPoints>& kinds, double peak, Json& series) {
  std::vector<std::pair<double, double>> all;
  for (const auto& kind : kinds) all.insert(all.end(), kind.points.begin(), kind.points.end());
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  if (least->first == most->first) return messages::chart_no_fit(true);
  const auto line = least_squares(all);
  if (line.slope <= 0) return messages::chart_no_fit(false);
  auto fit = Json::array({Json::array({0, rounded(line.intercept)}),
                          Json::array({rounded(most->first), rounded(line.intercept + line.slope * most->first)})});
  series.push_back(
      {{"type", "line"}, {"name", "all"}, {"role", "other"}, {"symbol", "none"}, {"data", std::move(fit)}});
  return messages::chart_fits({.all = true, .fits = {fit_of("", line, peak)}});
}

}  // namespace

std::optional<Chart> time_chart(const schema::MessageRenderer& words, const ProfileRun& run) {
  const auto& devices = run.tables.devices;
  if (devices.empty()) return std::nullopt;
  Chart chart;
  chart.id = "time";
  chart.title = "Activity of the GPUs";
  chart.height_px = 90 + 40 * static_cast<int>(devices.size());
  struct Part {
    std::string name;
    std::string role;
    std::vector<double> values;
  };
  std::vector<Part> parts{{"kernels", "best", {}},
                          {"copies only", "series-1", {}},
                          {"late launches", "failed", {}},
                          {"after synchronization", "series-2", {}},
                          {"other host work", "series-4", {}},
                          {"data", "series-3", {}},
                          {"other idle time", "other", {}}};
  auto labels = Json::array();
  double busy = 0;
  double span = 0;
  for (const auto& device : devices) {
    labels.push_back(fmt::format("GPU {}", device.device));
    const auto of = [&](schema::IdleCause cause) {
      for (const auto& idle : device.idle)
        if (idle.cause == cause) return milliseconds(idle.total_ns);
      return 0.0;
    };
    const double launch = of(schema::IdleCause::launch);
    const double sync = of(schema::IdleCause::sync);
    const double data = of(schema::IdleCause::data_loading);
    const double work = of(schema::IdleCause::host_work);
    parts[0].values.push_back(milliseconds(device.kernel_ns));
    parts[1].values.push_back(milliseconds(device.copy_ns - device.both_ns));
    parts[2].values.push_back(launch);
    parts[3].values.push_back(sync);
    parts[4].values.push_back(work);
    parts[5].values.push_back(data);
    parts[6].values.push_back(milliseconds(device.span_ns - device.busy_ns) - launch - sync - work - data);
    busy += milliseconds(device.busy_ns);
    span += milliseconds(device.span_ns);
  }
  auto series = Json::array();
  for (const auto& part : parts) {
    if (std::all_of(part.values.begin(), part.values.end(), [](double value) { return value < 1e-9; })) continue;
    auto data = Json::array();
    for (std::size_t i = 0; i < part.values.size(); ++i)
      data.push_back({{"value", rounded(part.values[i])},
                      {"tip", Json::array({part.name, fmt::format("{:.4g} ms", part.values[i])})}});
    series.push_back(
        {{"type", "bar"}, {"stack", "time"}, {"name", part.name}, {"role", part.role}, {"data", std::move(data)}});
  }
  chart.option = {{"series", std::move(series)},
                  {"xAxis", {{"type", "value"}, {"name", "ms"}}},
                  {"yAxis", {{"type", "category"}, {"data", std::move(labels)}, {"inverse", true}}}};
  chart.alternative = words.text(messages::chart_gpus_busy(span > 0 ? busy / span : 0));
  return chart;
}

std::optional<Chart> steps_chart(const schema::MessageRenderer& words, const ProfileRun& run) {
  const auto& steps = run.tables.steps;
  if (steps.size() < 3) return std::nullopt;
  Chart chart;
  chart.id = "steps-chart";
  chart.title = "Duration of each step";
  chart.height_px = 240;
  auto host = Json::array();
  auto work = Json::array();
  const auto every = std::max<std::size_t>(1, steps.size() / kMostProfilePoints);
  for (std::size_t i = 0; i < steps.size(); i += every) {
    host.push_back(profile_point(static_cast<double>(i + 1), milliseconds(steps[i].duration_ns),
                                 {steps[i].name, chart_ns_text(steps[i].duration_ns)}));
    work.push_back(profile_point(static_cast<double>(i + 1), milliseconds(steps[i].work_ns),
                                 {steps[i].name, chart_ns_text(steps[i].work_ns)}));
  }
  auto series = Json::array();
  series.push_back(
      {{"type", "scatter"}, {"name", "host"}, {"role", "best"}, {"small", true}, {"data", std::move(host)}});
  if (!is_host_only(run))
    series.push_back({{"type", "scatter"},
                      {"name", run.tables.devices.empty() ? "nodes" : "GPU"},
                      {"role", "series-1"},
                      {"small", true},
                      {"data", std::move(work)}});
  chart.option = {{"series", std::move(series)}, {"xAxis", value_axis("step", 0)}, {"yAxis", value_axis("ms", 2)}};
  const auto longest = std::max_element(steps.begin(), steps.end(),
                                        [](const auto& a, const auto& b) { return a.duration_ns < b.duration_ns; });
  chart.alternative = words.text(messages::chart_longest_step(
      {.step = plain_text(longest->name), .time = static_cast<double>(longest->duration_ns)}));
  return chart;
}

std::optional<Chart> bytes_chart(const schema::MessageRenderer& words, const ProfileRun& run) {
  auto kinds = bytes_by_kind(run);
  std::size_t count = 0;
  for (const auto& kind : kinds) count += kind.points.size();
  if (count < 3) return std::nullopt;
  Chart chart;
  chart.id = "bytes-chart";
  chart.title = words.text(messages::chart_bytes());
  auto series = Json::array();
  const auto peak = peak_bytes_per_s(run);
  std::size_t number = 0;
  std::vector<schema::Message> fits;
  for (auto& kind : kinds) {
    const auto role = kind.name == kOtherKinds ? std::string("other") : fmt::format("series-{}", ++number);
    series.push_back(
        {{"type", "scatter"}, {"name", kind.name}, {"role", role}, {"small", true}, {"data", std::move(kind.data)}});
    if (kind.points.size() < 3 || kind.name == kOtherKinds) continue;
    const auto line = least_squares(kind.points);
    const auto most = std::max_element(kind.points.begin(), kind.points.end())->first;
    if (line.slope <= 0) continue;
    auto fit = Json::array({Json::array({0, rounded(line.intercept)}),
                            Json::array({rounded(most), rounded(line.intercept + line.slope * most)})});
    series.push_back(
        {{"type", "line"}, {"name", kind.name}, {"role", role}, {"symbol", "none"}, {"data", std::move(fit)}});
    fits.push_back(fit_of(plain_text(kind.name), line, peak));
  }
  chart.alternative = words.text(fits.empty() ? fit_across_kinds(kinds, peak, series)
                                              : messages::chart_fits({.all = false, .fits = fits}));
  chart.option = {{"series", std::move(series)}, {"xAxis", value_axis("MB", 0)}, {"yAxis", value_axis("ms", 2)}};
  return chart;
}

std::optional<Chart> roofline_chart(const schema::MessageRenderer& words, const ProfileRun& run) {
  auto data = Json::array();
  const schema::ProfileNode* best = nullptr;
  double most_intensity = 0;
  for (const auto& node : run.tables.nodes) {
    if (node.flops <= 0 || node.bytes <= 0 || !tells_rate(run, node.calls, node.total_ns) || node.total_ns <= 0 ||
        data.size() >= kMostProfilePoints)
      continue;
    const auto intensity = static_cast<double>(node.flops) / static_cast<double>(node.bytes);
    const auto rate = static_cast<double>(node.flops) / static_cast<double>(node.total_ns);
    if (intensity < kLeastIntensity) continue;
    most_intensity = std::max(most_intensity, intensity);
    data.push_back(
        profile_point(intensity, rate,
                      {node.name, node.operation, fmt::format("{:.3g} GFLOP/s, {:.3g} FLOP/byte", rate, intensity),
                       chart_ns_text(node.total_ns)}));
    if (best == nullptr || static_cast<double>(best->flops) / static_cast<double>(best->total_ns) < rate) best = &node;
  }
  if (data.size() < 3) return std::nullopt;
  Chart chart;
  chart.id = "roofline";
  chart.title = words.text(messages::chart_roofline());
  auto series = Json::array();
  if (run.roof.bytes_per_s > 0 && run.roof.flops_per_s > 0) {
    const auto knee = run.roof.flops_per_s / run.roof.bytes_per_s;
    const auto at = [&](double intensity) {
      return Json::array(
          {rounded(intensity), rounded(std::min(run.roof.flops_per_s, intensity * run.roof.bytes_per_s) / 1e9)});
    };
    auto roof = Json::array({at(kLeastIntensity), at(knee), at(std::max(2 * knee, most_intensity))});
    series.push_back({{"type", "line"},
                      {"name", "measured roof"},
                      {"role", "other"},
                      {"symbol", "none"},
                      {"data", std::move(roof)}});
  }
  series.push_back(
      {{"type", "scatter"}, {"name", "nodes"}, {"role", "best"}, {"small", true}, {"data", std::move(data)}});
  chart.option = {{"series", std::move(series)}, {"xAxis", log_axis("FLOP/byte")}, {"yAxis", log_axis("GFLOP/s")}};
  chart.alternative = words.text(
      messages::chart_highest_rate({.rate = static_cast<double>(best->flops) / static_cast<double>(best->total_ns),
                                    .node = plain_text(best->name)}));
  return chart;
}

}  // namespace ridgeline::report
