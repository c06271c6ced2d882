// SPDX-License-Identifier: Apache-2.0
#include "report/sections/gpu_columns.hpp"

#include <algorithm>
#include <map>

namespace ridgeline::report {
namespace {

std::string short_title(std::string_view metric) {
  static const std::map<std::string_view, std::string> kTitles{{"gpu_memory_gb", "GPU peak, GB"},
                                                               {"gpu_weights_gb", "Weights, GB"},
                                                               {"gpu_arena_gb", "Arena, GB"},
                                                               {"gpu_energy_mj_per_item", "Energy, mJ/item"}};
  return kTitles.at(metric);
}

}  // namespace

GpuColumns::GpuColumns(const TuneView& view, const std::vector<std::string_view>& wanted) {
  if (!view.on_gpu()) return;
  const auto& trials = view.run.trials;
  for (const auto metric : wanted)
    if (std::any_of(trials.begin(), trials.end(),
                    [&](const auto& trial) { return gpu_metric(view.outcome(trial), metric).has_value(); }))
      metrics_.push_back(metric);
  output_error_ = std::any_of(trials.begin(), trials.end(), [&](const auto& trial) {
    const auto* outcome = view.outcome(trial);
    return outcome != nullptr && outcome->output_error.has_value();
  });
}

bool GpuColumns::has(std::string_view metric) const {
  return std::find(metrics_.begin(), metrics_.end(), metric) != metrics_.end();
}

void GpuColumns::add_titles(std::vector<Table::Column>& columns) const {
  for (const auto metric : metrics_) columns.push_back({short_title(metric), Align::right, true});
  if (output_error_) columns.push_back({"Output error", Align::right, true});
}

void GpuColumns::add_cells(std::vector<std::string>& cells, const schema::TrialOutcome* outcome) const {
  for (const auto metric : metrics_) cells.push_back(gpu_metric_text(outcome, metric));
  if (output_error_)
    cells.push_back(outcome != nullptr && outcome->output_error
                        ? fmt::format("{:.1e}", outcome->output_error->scaled_max_abs)
                        : std::string(kAbsent));
}

std::optional<double> gpu_metric(const schema::TrialOutcome* outcome, std::string_view metric) {
  if (outcome == nullptr || !outcome->measurement) return std::nullopt;
  return analysis::metric_value(*outcome->measurement, {}, metric);
}

std::string gpu_metric_text(const schema::TrialOutcome* outcome, std::string_view metric) {
  const auto value = gpu_metric(outcome, metric);
  if (!value) return std::string(kAbsent);
  return fmt::format("{:.{}f}", *value, metric == "gpu_energy_mj_per_item" ? 1 : 3);
}

}  // namespace ridgeline::report
