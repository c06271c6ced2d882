// SPDX-License-Identifier: Apache-2.0
#include "report/stream/stream_charts.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "report/charts/chart_parts.hpp"
#include "report/messages.hpp"

namespace ridgeline::report {
namespace {

using base::Json;
using schema::StreamMoment;
using schema::StreamRun;

constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;
constexpr int kPanelPx = 150;

struct StreamLine {
  std::string name;
  const char* role;
  Json data;
  bool is_limit = false;
};

struct StreamPanel {
  std::string axis;
  std::vector<StreamLine> lines;
};

/// Panels above each other over one x axis.
Json panel_option(const std::vector<StreamPanel>& panels, const std::string& axis, bool marks_points) {
  Json option;
  option["panels"] = panels.size();
  option["xAxis"] = Json::array();
  option["yAxis"] = Json::array();
  option["series"] = Json::array();
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const bool is_last = i + 1 == panels.size();
    Json along{{"type", "value"}, {"min", 0}, {"gridIndex", i}, {"bare", !is_last}};
    if (is_last) along["name"] = axis;
    option["xAxis"].push_back(std::move(along));
    option["yAxis"].push_back({{"type", "value"}, {"name", panels[i].axis}, {"min", 0}, {"gridIndex", i}});
    for (const auto& line : panels[i].lines)
      option["series"].push_back({{"type", "line"},
                                  {"name", line.name},
                                  {"role", line.role},
                                  {"symbol", marks_points && !line.is_limit ? "circle" : "none"},
                                  {"xAxisIndex", i},
                                  {"yAxisIndex", i},
                                  {"data", line.data}});
  }
  return option;
}

Json over_time(const StreamRun& run, const std::function<std::optional<double>(const StreamMoment&)>& reading) {
  Json out = Json::array();
  for (const auto& moment : run.moments)
    if (const auto value = reading(moment)) out.push_back({rounded(moment.at_s), rounded(*value)});
  return out;
}

Json level(double from, double to, double value) {
  return Json::array({Json::array({rounded(from), value}), Json::array({rounded(to), value})});
}

}  // namespace

std::optional<Chart> stream_time_chart(const schema::MessageRenderer& words, const StreamRun& run) {
  if (run.moments.size() < 2) return std::nullopt;
  const double slo = run.request.spec.settings.slo_ms;
  std::vector<StreamPanel> panels{
      {"Frames per second",
       {{"Received", "series-1",
         over_time(run, [](const auto& moment) { return std::optional(moment.offered_per_s); })},
        {"Delivered", "best",
         over_time(run, [](const auto& moment) { return std::optional(moment.delivered_per_s); })}}},
      {"Latency, ms",
       {{"p50", "series-2", over_time(run, [](const auto& moment) { return moment.p50; })},
        {"p99", "series-3", over_time(run, [](const auto& moment) { return moment.p99; })}}},
      {"Queued frames",
       {{"Queue", "other", over_time(run, [](const auto& moment) { return std::optional(moment.queued); })}}}};
  if (slo > 0)
    panels[1].lines.push_back({"SLO", "failed", level(run.moments.front().at_s, run.moments.back().at_s, slo), true});
  Chart chart;
  chart.id = "stream-time";
  chart.title = words.text(messages::chart_stream());
  const auto& status = run.status;
  const auto [percentile, latency] = schema::tail_of(status.latency);
  chart.alternative = words.text(messages::chart_stream_delivered(
      {.delivered = status.delivered_per_s,
       .offered = status.span_s > 0 ? static_cast<double>(status.offered) / status.span_s : 0,
       .percentile = percentile,
       .latency = latency}));
  chart.option = panel_option(panels, "Seconds since the pipeline was ready", false);
  chart.height_px = kPanelPx * static_cast<int>(panels.size());
  return chart;
}

std::optional<Chart> stream_gpu_chart(const schema::MessageRenderer& words, const StreamRun& run) {
  using schema::StreamGpu;
  struct Wanted {
    const char* name;
    const char* axis;
    const char* role;
    std::optional<double> StreamGpu::*value;
    double scale;
    const char* unit;
  };
  constexpr std::array kWanted{
      Wanted{"Busy", "Busy, %", "series-1", &StreamGpu::utilization_percent, 1, "%"},
      Wanted{"Memory", "Memory, GiB", "series-2", &StreamGpu::memory_used_bytes, 1 / kBytesPerGib, "GiB"},
      Wanted{"Power", "Power, W", "series-3", &StreamGpu::power_w, 1, "W"},
      Wanted{"Temperature", "Temperature, °C", "series-4", &StreamGpu::temperature_c, 1, "°C"}};
  std::vector<StreamPanel> panels;
  std::vector<std::string> parts;
  for (const auto& wanted : kWanted) {
    double most = 0;
    auto data = over_time(run, [&](const StreamMoment& moment) -> std::optional<double> {
      if (!moment.gpu || !(*moment.gpu.*wanted.value)) return std::nullopt;
      const double value = *(*moment.gpu.*wanted.value) * wanted.scale;
      most = std::max(most, value);
      return value;
    });
    if (data.size() < 2) continue;
    panels.push_back({wanted.axis, {{wanted.name, wanted.role, std::move(data)}}});
    const int decimals = wanted.value == &StreamGpu::memory_used_bytes ? 1 : 0;
    parts.push_back(words.text(messages::chart_up_to({.name = wanted.name, .most = {most, wanted.unit, decimals}})));
  }
  if (panels.empty()) return std::nullopt;
  Chart chart;
  chart.alternative = fmt::format("{}.", fmt::join(parts, ", "));
  chart.id = "stream-gpu";
  chart.title = words.text(messages::chart_gpu(false));
  chart.option = panel_option(panels, "Seconds since the pipeline was ready", false);
  chart.height_px = kPanelPx * static_cast<int>(panels.size());
  return chart;
}

std::optional<Chart> stream_load_chart(const schema::MessageRenderer& words, const StreamRun& run) {
  if (run.points.size() < 2) return std::nullopt;
  const auto sources = static_cast<double>(schema::source_count(run.request.spec));
  const auto against = [&](const std::function<std::optional<double>(const schema::StreamStatus&)>& reading) {
    Json out = Json::array();
    for (const auto& point : run.points)
      if (const auto value = reading(point.status))
        out.push_back({rounded(point.rate_per_s * sources), rounded(*value)});
    return out;
  };
  std::vector<StreamPanel> panels{
      {"Latency, ms",
       {{"p50", "series-2", against([](const auto& status) { return status.latency.p50; })},
        {"p99", "series-3", against([](const auto& status) { return status.latency.p99; })}}},
      {"Dropped, %", {{"Dropped", "series-1", against([](const auto& status) {
                         return status.offered > 0 ? 100 * static_cast<double>(status.all_dropped()) /
                                                         static_cast<double>(status.offered)
                                                   : 0;
                       })}}}};
  if (const double slo = run.request.spec.settings.slo_ms; slo > 0)
    panels[0].lines.push_back({"SLO", "failed", level(0, run.points.back().rate_per_s * sources, slo), true});
  Chart chart;
  chart.id = "stream-load";
  chart.title = words.text(messages::chart_stream_load());
  const double held = run.verdict ? run.verdict->held_per_s.value_or(0) : 0;
  chart.alternative = words.text(
      messages::chart_stream_held({.rate = held > 0 ? std::optional(held) : std::nullopt, .all = held * sources}));
  chart.option = panel_option(panels, "Offered load of all sources, frames per second", true);
  chart.height_px = 2 * kPanelPx + 60;
  return chart;
}

}  // namespace ridgeline::report
