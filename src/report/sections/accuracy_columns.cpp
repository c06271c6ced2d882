// SPDX-License-Identifier: Apache-2.0
#include "report/sections/accuracy_columns.hpp"

#include "report/inline_text.hpp"
#include "report/messages.hpp"

namespace ridgeline::report {

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
      cells.push_back(found != nullptr && found->metric ? fmt::format("{:.4g}", *found->metric) : absent);
  }
  if (cosine_) cells.push_back(found != nullptr ? fmt::format("{:.5f}", found->cosine) : absent);
}

schema::Message accuracy_limits(const schema::TuneRun& run) {
  if (run.accuracy_tolerance <= 0) return {};
  const auto gate = run.accuracy_gate.value_or(schema::AccuracyGate{});
  using enum messages::TuneToleranceBy;
  messages::TuneTolerance out{.by = gate.reference_metric   ? metric
                                    : gate.least_cosine > 0 ? cosine
                                                            : magnitude,
                              .reference = gate.reference_metric.value_or(0),
                              .loss = gate.metric_loss,
                              .cosine = gate.least_cosine,
                              .tolerance = run.accuracy_tolerance};
  if (gate.tf32_tolerance > run.accuracy_tolerance) out.tf32 = gate.tf32_tolerance;
  if (run.call_variation && !gate.reference_metric) {
    for (const auto& name : run.call_variation->outputs) out.varying.push_back(code_mark(name));
    out.calls = run.call_variation->calls;
  }
  return messages::tune_tolerance(out);
}

}  // namespace ridgeline::report
