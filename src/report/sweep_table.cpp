// SPDX-License-Identifier: Apache-2.0
#include "report/sweep_table.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/comparison_text.hpp"
#include "analysis/sweep_answers.hpp"
#include "report/format.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

using schema::SweepRun;
using schema::TrialStatus;

constexpr std::size_t kNumberWidth = 9;

bool watches_gpus(const SweepRun& run) { return run.device_id.rfind("gpu:", 0) == 0; }

struct Column {
  std::string title;
  std::string metric;
  double factor = 1;
  int decimals = -1;  ///< -1: significant digits
};

/// Besides the parameters, the objective first.
std::vector<Column> metric_columns(const SweepRun& run) {
  std::vector<Column> out;
  for (const auto& metric : run.request.job.metrics) out.push_back({metric.name, metric.name});
  out.push_back({"Seconds", "seconds"});
  out.push_back({"CPU%", "cpu_percent", 1, 0});
  out.push_back({"Mem(GB)", "memory_gb", 1, 3});
  if (watches_gpus(run)) {
    out.push_back({"GPU%", "gpu_busy", 100, 0});
    out.push_back({"GPU(GB)", "gpu_memory_gb", 1, 2});
    out.push_back({"Power(W)", "gpu_power_w", 1, 0});
  }
  const auto objective = std::find_if(
      out.begin(), out.end(), [&](const Column& column) { return column.metric == run.request.objective.metric; });
  if (objective == out.end())
    out.insert(out.begin(), {run.request.objective.metric, run.request.objective.metric});
  else
    std::rotate(out.begin(), objective, objective + 1);
  return out;
}

std::string cell_of(const Column& column, const std::map<std::string, double>& metrics) {
  const auto found = metrics.find(column.metric);
  if (found == metrics.end()) return std::string(kAbsent);
  const double value = found->second * column.factor;
  return column.decimals < 0 ? sweep_number(value) : fmt::format("{:.{}f}", value, column.decimals);
}

bool numeric(const schema::SweepParam& param) {
  return std::all_of(param.values.begin(), param.values.end(), [](const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789.+-eE") == std::string::npos;
  });
}

void add_parameters(const SweepRun& run, std::vector<Table::Column>& columns) {
  for (const auto& param : run.request.job.parameters)
    columns.push_back({one_line(param.name), numeric(param) ? Align::right : Align::left});
}

void add_values(const SweepRun& run, const schema::SweepPoint& point, std::vector<std::string>& cells) {
  for (const auto& param : run.request.job.parameters) {
    const auto value = point.find(param.name);
    cells.push_back(value == point.end() ? std::string(kAbsent) : one_line(value->second));
  }
}

std::string verdict_of(const SweepRun& run, const schema::SweepSummary& point) {
  std::vector<std::string> words;
  const bool best = run.answers && point.point == run.answers->best;
  if (best) words.emplace_back("best");
  if (run.answers && point.point == run.answers->recommended) words.emplace_back("recommended");
  if (point.tie && !best) words.emplace_back("tie");
  if (point.failed > 0) words.push_back(fmt::format("{} failed", point.failed));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string behind_text(const schema::SweepSummary& point, bool differences) {
  if (!point.behind) return std::string(kAbsent);
  const auto& behind = *point.behind;
  if (differences)
    return behind.high > behind.low && behind.high < 1e299
               ? fmt::format("{} ({} to {})", sweep_number(behind.value), sweep_number(behind.low),
                             sweep_number(behind.high))
               : sweep_number(behind.value);
  const bool known = behind.high > behind.low && behind.high < 1e5;
  if (known && stats::is_too_wide(behind.low, behind.high)) return std::string(analysis::kTooFewMeasurements);
  return known ? fmt::format("{:.3f} ({:.3f}–{:.3f})", behind.value, behind.low, behind.high)
               : fmt::format("{:.3f}", behind.value);
}

}  // namespace

std::string sweep_number(double value) {
  if (!std::isfinite(value)) return std::string(kAbsent);
  const double size = std::abs(value);
  if (size >= 1000 && size < 1e9) return fmt::format("{:.0f}", value);
  if (size >= 0.001 || value == 0) {
    const int decimals = size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 || value == 0 ? 3 : 4;
    return fmt::format("{:.{}f}", value, decimals);
  }
  return fmt::format("{:.3g}", value);
}

std::string sweep_estimate(const stats::Estimate& estimate) {
  const double half = (estimate.high - estimate.low) / 2;
  if (half <= 0) return sweep_number(estimate.value);
  const int digits = half < 0.001 ? 2 : 3;
  const auto margin = half >= 100 && half < 1e9 ? fmt::format("{:.0f}", half) : fmt::format("{:.{}g}", half, digits);
  return fmt::format("{} ±{}", sweep_number(estimate.value), margin);
}

std::vector<Table::Column> sweep_columns(const SweepRun& run) {
  std::vector<Table::Column> columns{{"#", Align::right}};
  add_parameters(run, columns);
  for (const auto& column : metric_columns(run)) columns.push_back({one_line(column.title), Align::right});
  columns.push_back({"Status", Align::left});
  return columns;
}

Table::Row sweep_row(const schema::MessageRenderer& words, const SweepRun& run, const schema::SweepTrial& trial) {
  Table::Row row;
  row.anchor = fmt::format("trial-{}", trial.id);
  row.cells.push_back(fmt::format("{}", trial.id));
  add_values(run, trial.point, row.cells);
  for (const auto& column : metric_columns(run)) row.cells.push_back(cell_of(column, trial.outcome.metrics));
  row.cells.push_back(sweep_status(words, trial));
  if (trial.outcome.status == TrialStatus::out_of_memory)
    row.tone = Tone::warning;
  else if (trial.outcome.status != TrialStatus::ok)
    row.tone = Tone::bad;
  return row;
}

std::vector<std::size_t> sweep_widths(const SweepRun& run) {
  std::vector<std::size_t> widths{4};
  for (const auto& param : run.request.job.parameters) {
    std::size_t width = columns_of(param.name);
    for (const auto& value : param.values) width = std::max(width, columns_of(one_line(value)));
    widths.push_back(width);
  }
  for (const auto& column : metric_columns(run))
    widths.push_back(std::max(columns_of(column.title), column.decimals == 0 ? std::size_t{4} : kNumberWidth));
  widths.push_back(0);
  return widths;
}

std::string sweep_line(const std::vector<std::string>& cells, const std::vector<Table::Column>& columns,
                       const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size() && i < widths.size(); ++i) {
    const auto wide = columns_of(cells[i]);
    const std::string space(wide < widths[i] ? widths[i] - wide : 0, ' ');
    if (i > 0) line += "  ";
    line += columns[i].align == Align::right ? space + cells[i] : cells[i] + space;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

Table sweep_points_table(const SweepRun& run) {
  Table table;
  add_parameters(run, table.columns);
  auto metrics = metric_columns(run);
  table.columns.push_back({one_line(metrics.front().title), Align::right});
  const bool differences = analysis::compares_differences(run);
  table.columns.push_back({differences ? "Behind the best (95 %)" : "Relative cost (95 %)", Align::right});
  metrics.erase(metrics.begin());  // the objective is shown with its interval
  table.columns.push_back({"Verdict", Align::left});
  for (const auto& column : metrics) table.columns.push_back({one_line(column.title), Align::right, true});
  table.columns.push_back({"Trials", Align::right});
  for (const auto& point : run.points) {
    Table::Row row;
    add_values(run, point.point, row.cells);
    const bool measured = !point.trials.empty();
    row.cells.push_back(measured ? sweep_estimate(point.objective) : std::string(kAbsent));
    row.cells.push_back(behind_text(point, differences));
    row.cells.push_back(verdict_of(run, point));
    for (const auto& column : metrics) row.cells.push_back(cell_of(column, point.metrics));
    row.cells.push_back(fmt::format("{}", point.trials.size()));
    if (run.answers && point.point == run.answers->recommended) row.tone = Tone::good;
    if (!measured) row.tone = Tone::bad;
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string sweep_status(const schema::MessageRenderer& words, const schema::SweepTrial& trial) {
  const auto& outcome = trial.outcome;
  std::string kind;
  if (trial.stage == schema::SweepStage::warmup) kind = ", warm-up";
  if (trial.cached) kind += ", cached";
  const auto why = outcome.failure ? ": " + one_line(words.line(outcome.failure->message)) : std::string();
  switch (outcome.status) {
    case TrialStatus::ok: {
      std::string notes;
      for (const auto& note : outcome.notes) notes += ", " + one_line(words.text(note));
      return "ok" + kind + notes;
    }
    case TrialStatus::out_of_memory: return "OOM" + kind + why;
    case TrialStatus::timeout: return "timeout" + kind + why;
    case TrialStatus::crashed: return "crashed" + kind + why;
    default: return "failed" + kind + why;
  }
}

}  // namespace ridgeline::report
