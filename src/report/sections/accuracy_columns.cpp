// SPDX-License-Identifier: Apache-2.0
#include "report/sections/accuracy_columns.hpp"

#include "report/inline_text.hpp"

namespace ridgeline::report {
namespace {

std::string varying_text(const schema::CallVariation& variation) {
  std::string names;
  for (const auto& name : variation.outputs) names += (names.empty() ? "" : ", ") + code_mark(name);
  return fmt::format(
      "; {}, which change{} from call to call, by the distribution over {} calls, which may be off by what chance "
      "gives "
      "once in a million",
      names, variation.outputs.size() == 1 ? "s" : "", variation.calls);
}

}  // namespace

AccuracyColumns::AccuracyColumns(const TuneView& view) {
  const auto gate = view.run.accuracy_gate.value_or(schema::AccuracyGate{});
  metric_ = gate.reference_metric.has_value();
  cosine_ = gate.least_cosine > 0;
}

void AccuracyColumns::add_titles(std::vector<Table::Column>& columns) const {
  if (metric_) columns.push_back({"Metric", Align::right, true});
  if (cosine_) columns.push_back({"Cosine", Align::right, true});
}

void AccuracyColumns::add_cells(std::vector<std::string>& cells, const schema::TrialOutcome* outcome) const {
  const auto* found = outcome != nullptr && outcome->output_error ? &*outcome->output_error : nullptr;
  const auto absent = std::string(kAbsent);
  if (metric_) {
    if (found != nullptr && found->metric_not_finite)
      cells.emplace_back("not finite");
    else
      cells.push_back(found != nullptr && found->metric ? metric_text(*found->metric) : absent);
  }
  if (cosine_) cells.push_back(found != nullptr ? fmt::format("{:.5f}", found->cosine) : absent);
}

std::string metric_text(double metric) { return fmt::format("{:.4g}", metric); }

std::string accuracy_limits_text(const schema::TuneRun& run) {
  if (run.accuracy_tolerance <= 0) return {};
  const auto gate = run.accuracy_gate.value_or(schema::AccuracyGate{});
  if (gate.reference_metric)
    return fmt::format("the model's own metric, {} in the reference, of which {} may be lost",
                       metric_text(*gate.reference_metric), percent(gate.metric_loss));
  const auto varying = run.call_variation ? varying_text(*run.call_variation) : std::string();
  if (gate.least_cosine > 0)
    return fmt::format("cosine similarity of each output of real numbers to the reference's at least {:.5g}",
                       gate.least_cosine) +
           varying;
  auto text = fmt::format("{:.1e} of the output's largest magnitude", run.accuracy_tolerance);
  if (gate.tf32_tolerance > run.accuracy_tolerance) text += fmt::format(", {:.1e} in TF32", gate.tf32_tolerance);
  return text + varying;
}

}  // namespace ridgeline::report
