// SPDX-License-Identifier: Apache-2.0
#include "analysis/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/ranking.hpp"

namespace ridgeline::analysis {
namespace {

using schema::AccuracyGate;
using schema::OutputError;

std::optional<std::string> metric_fault(const OutputError& found, const AccuracyGate& gate) {
  const double reference = *gate.reference_metric;
  const auto beside = fmt::format("reference {:.4g}, at most {:.4g} % may be lost", reference, 100 * gate.metric_loss);
  if (found.metric_not_finite) return fmt::format("metric is no finite number, {}", beside);
  if (!found.metric || *found.metric >= reference - gate.metric_loss * std::abs(reference)) return std::nullopt;
  return fmt::format("metric {:.4g}, {}", *found.metric, beside);
}

std::optional<std::string> cosine_fault(const OutputError& found, const AccuracyGate& gate) {
  // What is left of the other check is that shapes are alike and values finite.
  if (auto fault = accuracy_fault(found, std::numeric_limits<double>::max())) return fault;
  if (found.cosine >= gate.least_cosine) return std::nullopt;
  return fmt::format("cosine similarity to FP32 {:.5f}, at least {:.5g} is asked for", found.cosine, gate.least_cosine);
}

/// Where nothing says otherwise: TF32 is on by default in cuDNN and in ONNX Runtime's CUDA provider.
bool may_run_in_tf32(const schema::TuneRun& run, const schema::TrialOutcome& outcome) {
  if (!run.on_gpu() || !outcome.measurement) return false;
  const auto& effective = outcome.measurement->effective_settings;
  return std::none_of(effective.begin(), effective.end(), [](const auto& one) {
    const auto& [key, value] = one;
    return (key == "allow_tf32" || key == "use_tf32") && (value == "false" || value == "0");
  });
}

bool is_judged_by_tolerance(const AccuracyGate& gate) { return !gate.reference_metric && gate.least_cosine <= 0; }

}  // namespace

std::optional<std::string> accuracy_fault(const schema::TuneRun& run, const schema::TrialOutcome& outcome) {
  if (!outcome.output_error || run.accuracy_tolerance <= 0) return std::nullopt;
  const auto gate = run.accuracy_gate.value_or(AccuracyGate{});
  if (gate.reference_metric) return metric_fault(*outcome.output_error, gate);
  if (gate.least_cosine > 0) return cosine_fault(*outcome.output_error, gate);
  const double tf32 = may_run_in_tf32(run, outcome) ? gate.tf32_tolerance : 0;
  return accuracy_fault(*outcome.output_error, std::max(run.accuracy_tolerance, tf32));
}

std::optional<std::string> tf32_note(const schema::TuneRun& run, const schema::TrialOutcome& outcome) {
  if (!outcome.output_error || run.accuracy_tolerance <= 0 || !run.accuracy_gate) return std::nullopt;
  const double error = outcome.output_error->scaled_max_abs;
  if (!is_judged_by_tolerance(*run.accuracy_gate) || !may_run_in_tf32(run, outcome)) return std::nullopt;
  if (error <= run.accuracy_tolerance || error > run.accuracy_gate->tf32_tolerance) return std::nullopt;
  return fmt::format("TF32: differs by {:.1e} from FP32", error);
}

}  // namespace ridgeline::analysis
