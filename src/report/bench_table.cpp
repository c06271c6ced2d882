// SPDX-License-Identifier: Apache-2.0
#include "report/bench_table.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/messages.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

using schema::DataMode;
using schema::TrialStatus;

constexpr std::array<std::size_t, 14> kWidths{6, 7, 5, 4, 8, 8, 8, 8, 8, 9, 17, 5, 8, 0};
constexpr int kWideDisplay = 140;  // all columns and a usual status

std::string milliseconds(double value) {
  if (!std::isfinite(value)) return std::string(kAbsent);
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

/// "4120 ±25", "13.42 ±0.20": the value to the precision of the interval's half-width.
std::string with_interval(const stats::Estimate& estimate) {
  const double half = (estimate.high - estimate.low) / 2;
  const int decimals = estimate.value >= 1000 ? 0 : estimate.value >= 100 ? 1 : estimate.value >= 1 ? 2 : 4;
  if (half <= 0) return fmt::format("{:.{}f}", estimate.value, decimals);
  return fmt::format("{:.{}f} ±{:.{}f}", estimate.value, decimals, half, decimals);
}

messages::BenchStatusData data_of(const schema::BenchTrial& trial) {
  using enum messages::BenchStatusData;
  if (trial.stage == schema::BenchStage::stability_run) return stability;
  switch (trial.data) {
    case DataMode::host: return host;
    case DataMode::device: return device;
    case DataMode::loader_only: return alone;
    default: return loader;
  }
}

}  // namespace

const std::vector<Table::Column>& bench_columns() {
  static const std::vector<Table::Column> columns{{"Batch", Align::right},
                                                  {"Workers", Align::right},
                                                  {"AMP", Align::left},
                                                  {"Pin", Align::left},
                                                  {"I/O(ms)", Align::right, true},
                                                  {"H2D(ms)", Align::right, true},
                                                  {"Fwd(ms)", Align::right, true},
                                                  {"Bwd(ms)", Align::right, true},
                                                  {"Opt(ms)", Align::right, true},
                                                  {"Total(ms)", Align::right},
                                                  {"Samples/s", Align::right},
                                                  {"GPU%", Align::right, true},
                                                  {"Mem(GB)", Align::right},
                                                  {"Status", Align::left}};
  return columns;
}

std::string bench_status(const schema::MessageRenderer& words, const schema::BenchTrial& trial) {
  using enum messages::BenchStatusStatus;
  const auto& outcome = trial.outcome;
  const auto status = [&] {
    switch (outcome.status) {
      case TrialStatus::ok: return ok;
      case TrialStatus::out_of_memory: return oom;
      case TrialStatus::timeout: return timeout;
      case TrialStatus::crashed: return crashed;
      default: return failed;
    }
  }();
  const bool has_failed = outcome.failure && status != ok && status != oom;
  return one_line(
      words.text(messages::bench_status({.status = status,
                                         .data = data_of(trial),
                                         .cached = trial.cached,
                                         .failed = has_failed,
                                         .why = has_failed ? outcome.failure->message : schema::Message()})));
}

Table::Row bench_row(const schema::MessageRenderer& words, const schema::BenchTrial& trial) {
  Table::Row row;
  const auto& settings = trial.settings;
  row.cells = {fmt::format("{}", settings.batch), fmt::format("{}", settings.workers),
               std::string(base::enum_name(settings.amp)), settings.pin_memory ? "on" : "off"};
  row.anchor = fmt::format("trial-{}", trial.id);
  const auto* measurement = trial.outcome.measurement ? &*trial.outcome.measurement : nullptr;
  if (measurement == nullptr) {
    for (int i = 0; i < 9; ++i) row.cells.emplace_back(kAbsent);
  } else {
    const auto& phases = measurement->phases;
    for (const auto* phase : {&phases.io_wait_ms, &phases.h2d_ms, &phases.forward_ms, &phases.backward_ms,
                              &phases.optimizer_ms, &phases.wall_ms})
      row.cells.push_back(milliseconds(phase->value));
    row.cells.push_back(with_interval(measurement->samples_per_s));
    const auto& resources = measurement->resources;
    const auto busy = resources.gpu_busy ? resources.gpu_busy : resources.gpu_util;
    row.cells.push_back(busy ? fmt::format("{:.0f}", *busy * 100) : std::string(kAbsent));
    row.cells.push_back(resources.peak_reserved_gb ? fmt::format("{:.2f}", *resources.peak_reserved_gb)
                                                   : std::string(kAbsent));
  }
  row.cells.push_back(bench_status(words, trial));
  if (trial.outcome.status == TrialStatus::out_of_memory)
    row.tone = Tone::warning;
  else if (trial.outcome.status != TrialStatus::ok)
    row.tone = Tone::bad;
  return row;
}

std::string bench_line(const std::vector<std::string>& cells, int width) {
  std::string line;
  const auto& columns = bench_columns();
  for (std::size_t i = 0; i < cells.size() && i < kWidths.size(); ++i) {
    if (columns[i].optional && width < kWideDisplay) continue;
    const auto wide = columns_of(cells[i]);
    const std::string space(wide < kWidths[i] ? kWidths[i] - wide : 0, ' ');
    if (!line.empty()) line += ' ';
    line += columns[i].align == Align::right ? space + cells[i] : cells[i] + space;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace ridgeline::report
