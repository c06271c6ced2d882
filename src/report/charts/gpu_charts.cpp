// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "report/charts/chart_parts.hpp"
#include "report/charts/charts.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::report {
namespace {

using base::Json;
using schema::GpuSample;

constexpr std::size_t kBins = 240;  // readings are many; a page needs no more than a pixel can show
/// Of a server's eight GPUs none looks like another, nor like the marks of held clocks.
constexpr std::array<std::string_view, 8> kGpuRoles{"series-1", "series-2", "series-3", "series-4",
                                                    "best",     "rejected", "other",    "current"};

/// Readings of one stretch of time.
struct Bin {
  std::vector<double> clocks_mhz;
  std::vector<double> powers_w;
  std::vector<double> temperatures_c;
  std::vector<std::string> reasons;
  int trial = 0;  ///< the first that was throttled here
};

/// One GPU's readings.
struct Line {
  std::string uuid;
  std::array<Bin, kBins> bins;
  double width_s = 0;
  std::size_t readings = 0;
  std::size_t held = 0;
  double lowest_mhz = 0;
  double highest_mhz = 0;
  double most_w = 0;
  double most_c = 0;
};

double end_of(const TuneView& view) {
  double end_s = 0;
  for (const auto& trial : view.run.trials) {
    const auto* outcome = view.outcome(trial);
    if (outcome != nullptr) end_s = std::max(end_s, trial.started_s + (trial.cached ? 0 : outcome->duration_s));
  }
  return end_s;
}

void add_reading(Line& line, const schema::TunedTrial& trial, const GpuSample& sample) {
  const auto place = static_cast<std::size_t>(std::max(0.0, (trial.started_s + sample.at_s) / line.width_s));
  auto& bin = line.bins.at(std::min(place, kBins - 1));
  ++line.readings;
  if (sample.sm_clock_mhz) {
    bin.clocks_mhz.push_back(*sample.sm_clock_mhz);
    line.lowest_mhz = line.lowest_mhz > 0 ? std::min(line.lowest_mhz, *sample.sm_clock_mhz) : *sample.sm_clock_mhz;
    line.highest_mhz = std::max(line.highest_mhz, *sample.sm_clock_mhz);
  }
  if (sample.power_w) bin.powers_w.push_back(*sample.power_w);
  if (sample.temperature_c) bin.temperatures_c.push_back(*sample.temperature_c);
  line.most_w = std::max(line.most_w, sample.power_w.value_or(0));
  line.most_c = std::max(line.most_c, sample.temperature_c.value_or(0));
  auto reasons = schema::clock_reason_names(sample.clock_reasons.value_or(0));
  if (reasons.empty()) return;
  ++line.held;
  if (bin.reasons.empty()) bin.trial = trial.id;
  for (auto& reason : reasons)
    if (std::find(bin.reasons.begin(), bin.reasons.end(), reason) == bin.reasons.end())
      bin.reasons.push_back(std::move(reason));
}

/// [time, median of the bin]; an empty bin breaks the line.
Json curve(const Line& line, std::vector<double> Bin::*values) {
  Json data = Json::array();
  bool broken = true;
  for (std::size_t i = 0; i < kBins; ++i) {
    const auto& numbers = line.bins[i].*values;
    const auto at = rounded((static_cast<double>(i) + 0.5) * line.width_s);
    if (!numbers.empty())
      data.push_back({at, rounded(stats::quantile(numbers, 0.5))});
    else if (!broken)
      data.push_back({at, nullptr});
    broken = numbers.empty();
  }
  return data;
}

/// `name`: of the GPU, "" for the only one.
void add_throttle_marks(const TuneView& view, Json& data, const Line& line, const std::string& name) {
  for (std::size_t i = 0; i < kBins; ++i) {
    const auto& bin = line.bins[i];
    if (bin.reasons.empty() || bin.clocks_mhz.empty()) continue;
    const auto clock = stats::quantile(bin.clocks_mhz, 0.5);
    data.push_back(
        datum({rounded((static_cast<double>(i) + 0.5) * line.width_s), rounded(clock)},
              Json::array({view.text(messages::chart_throttled_during({.gpu = name, .trial = bin.trial})),
                           fmt::format("{}", fmt::join(bin.reasons, ", ")), fmt::format("SM clock {:.0f} MHz", clock)}),
              bin.trial));
  }
}

/// `name`: of the GPU, "" for the only one.
schema::Message findings_of(const TuneView& view, const Line& line, const std::string& name) {
  using enum messages::ChartGpuReadingOf;
  std::vector<std::string> found;
  const auto add = [&](messages::ChartGpuReadingOf of, double least, double most) {
    if (most > 0) found.push_back(view.text(messages::chart_gpu_reading({.of = of, .least = least, .most = most})));
  };
  add(messages::ChartGpuReadingOf::clock, line.lowest_mhz, line.highest_mhz);
  add(power, 0, line.most_w);
  add(temperature, 0, line.most_c);
  using Held = std::optional<std::int64_t>;
  return messages::chart_gpu_found({.gpu = plain_text(name),
                                    .found = found,
                                    .held = line.held > 0 ? Held(line.held) : std::nullopt,
                                    .readings = static_cast<std::int64_t>(line.readings)});
}

/// A line for each GPU that was read during the run's own trials, in the order of the run's GPUs.
std::vector<Line> lines_of(const TuneView& view, double width_s) {
  std::vector<Line> lines;
  const auto& gpus = view.run.environment.gpus;
  const auto place_of = [&](const Line& line) {
    return std::find_if(gpus.begin(), gpus.end(), [&](const auto& gpu) { return gpu.uuid == line.uuid; });
  };
  for (const auto& trial : view.run.trials) {
    const auto* measured = view.measurement(trial);
    // Readings of an answer from the store belong to another time.
    if (measured == nullptr || !measured->gpu || measured->gpu->samples.empty() || trial.cached) continue;
    const auto& uuid = measured->gpu->uuid;
    auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& other) { return other.uuid == uuid; });
    if (line == lines.end()) {
      line = lines.insert(lines.end(), Line{});
      line->uuid = uuid;
      line->width_s = width_s;
    }
    for (const auto& sample : measured->gpu->samples) add_reading(*line, trial, sample);
  }
  std::stable_sort(lines.begin(), lines.end(), [&](const Line& a, const Line& b) { return place_of(a) < place_of(b); });
  return lines;
}

/// "GPU 1", as nvidia-smi numbers it; by its UUID where that is not known, or is of parts of one card.
std::string name_of(const Line& line, const schema::Environment& environment) {
  const auto& gpus = environment.gpus;
  for (const auto& gpu : gpus)
    if (gpu.uuid == line.uuid && gpu.index &&
        std::count_if(gpus.begin(), gpus.end(), [&](const auto& other) { return other.index == gpu.index; }) == 1)
      return fmt::format("GPU {}", *gpu.index);
  return line.uuid.empty() ? std::string("unknown GPU") : line.uuid;
}

}  // namespace

std::optional<Chart> gpu_timeline_chart(const TuneView& view) {
  if (!view.on_gpu()) return std::nullopt;
  const double width_s = end_of(view) / static_cast<double>(kBins);
  if (width_s <= 0) return std::nullopt;
  const auto lines = lines_of(view, width_s);
  if (lines.empty()) return std::nullopt;
  const bool several = lines.size() > 1;
  std::vector<std::string> names;
  for (const auto& line : lines) names.push_back(several ? name_of(line, view.run.environment) : "");
  Chart chart;
  chart.id = "gpu-timeline";
  chart.title = view.text(messages::chart_gpu(several));
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (at > 0) chart.alternative += " ";
    chart.alternative += sentence(view.text(findings_of(view, lines[at], names[at])));
  }
  struct Panel {
    const char* title;
    const char* axis;
    const char* role;
    std::vector<double> Bin::*values;
  };
  const std::array panels{Panel{"SM clock", "SM clock, MHz", "front", &Bin::clocks_mhz},
                          Panel{"Power", "Power, W", "series-1", &Bin::powers_w},
                          Panel{"Temperature", "Temperature, °C", "series-2", &Bin::temperatures_c}};
  chart.option["panels"] = panels.size();
  chart.option["xAxis"] = Json::array();
  chart.option["yAxis"] = Json::array();
  chart.option["series"] = Json::array();
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const bool last = i + 1 == panels.size();
    Json time{{"type", "value"}, {"min", 0}, {"decimals", 0}, {"gridIndex", i}, {"bare", !last}};
    if (last) time["name"] = "Seconds since the start";
    chart.option["xAxis"].push_back(std::move(time));
    auto values = value_axis(panels[i].axis, 0);
    values["gridIndex"] = i;
    chart.option["yAxis"].push_back(std::move(values));
    // The axes tell the panels apart; of several GPUs the legend has each once, in the colour of all its lines.
    for (std::size_t at = 0; at < lines.size(); ++at)
      chart.option["series"].push_back({{"type", "line"},
                                        {"name", several ? names[at] : panels[i].title},
                                        {"role", several ? kGpuRoles.at(at % kGpuRoles.size()) : panels[i].role},
                                        {"symbol", "none"},
                                        {"xAxisIndex", i},
                                        {"yAxisIndex", i},
                                        {"data", curve(lines[at], panels[i].values)}});
  }
  auto marks = Json::array();
  for (std::size_t at = 0; at < lines.size(); ++at) add_throttle_marks(view, marks, lines[at], names[at]);
  if (!marks.empty())
    chart.option["series"].push_back({{"type", "scatter"},
                                      {"name", "Clock throttled"},
                                      {"role", "failed"},
                                      {"small", true},
                                      {"xAxisIndex", 0},
                                      {"yAxisIndex", 0},
                                      {"data", std::move(marks)}});
  chart.height_px = 440;
  return chart;
}

}  // namespace ridgeline::report
