// SPDX-License-Identifier: Apache-2.0
#include "analysis/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <boost/math/distributions/students_t.hpp>

#include "analysis/messages.hpp"
#include "analysis/ranking.hpp"

namespace ridgeline::analysis {
namespace {

using schema::AccuracyGate;
using schema::OutputError;

constexpr double kHalfPrecisionRounding = 0.03;  // of means over an output, through the depth of a network

std::optional<schema::Message> metric_fault(const OutputError& found, const AccuracyGate& gate) {
  const double reference = *gate.reference_metric;
  if (found.metric_not_finite) return messages::metric_not_finite({.reference = reference, .loss = gate.metric_loss});
  if (!found.metric || *found.metric >= reference - gate.metric_loss * std::abs(reference)) return std::nullopt;
  return messages::metric_too_low({.metric = *found.metric, .reference = reference, .loss = gate.metric_loss});
}

std::optional<schema::Message> cosine_fault(const OutputError& found, const AccuracyGate& gate) {
  // What is left of the other check is that shapes are alike and values finite.
  if (auto fault = accuracy_fault(found, std::numeric_limits<double>::max())) return fault;
  if (found.cosine >= gate.least_cosine) return std::nullopt;
  return messages::cosine_too_low({.cosine = found.cosine, .least = gate.least_cosine});
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

/// Standard errors that chance exceeds once in a million, of a mean over so many calls.
double most_by_chance(std::int64_t calls) {
  constexpr double kChance = 1e-6;
  return boost::math::quantile(boost::math::students_t(static_cast<double>(std::max<std::int64_t>(calls, 2) - 1)),
                               1 - kChance / 2);
}

messages::OutputDistributedOtherwiseStatistic word_of(schema::OutputStatistic statistic) {
  using Word = messages::OutputDistributedOtherwiseStatistic;
  switch (statistic) {
    case schema::OutputStatistic::elements: return Word::elements;
    case schema::OutputStatistic::mean: return Word::mean;
    case schema::OutputStatistic::standard_deviation: return Word::standard_deviation;
    case schema::OutputStatistic::magnitude: return Word::magnitude;
    case schema::OutputStatistic::agreement: return Word::agreement;
    case schema::OutputStatistic::distance: return Word::distance;
  }
  return Word::mean;
}

/// What is within the tolerance is rounding, however little the outputs scatter.
std::optional<schema::Message> spread_fault(const OutputError& found, double tolerance) {
  if (!found.spread) return std::nullopt;
  const auto& spread = *found.spread;
  const double most = most_by_chance(spread.calls);
  if (spread.distance <= most || spread.relative <= tolerance) return std::nullopt;
  return messages::output_distributed_otherwise({.output = spread.output,
                                                 .statistic = word_of(spread.statistic),
                                                 .found = spread.found,
                                                 .calls = spread.calls,
                                                 .reference = spread.reference,
                                                 .distance = spread.distance,
                                                 .most = most});
}

bool is_judged_by_tolerance(const AccuracyGate& gate) { return !gate.reference_metric && gate.least_cosine <= 0; }

}  // namespace

std::optional<schema::Message> accuracy_fault(const schema::TuneRun& run, const schema::TrialOutcome& outcome) {
  if (!outcome.output_error || run.accuracy_tolerance <= 0) return std::nullopt;
  const auto gate = run.accuracy_gate.value_or(AccuracyGate{});
  if (gate.reference_metric) return metric_fault(*outcome.output_error, gate);
  const double tf32 = may_run_in_tf32(run, outcome) ? gate.tf32_tolerance : 0;
  double tolerance = std::max(run.accuracy_tolerance, tf32);
  auto fault = gate.least_cosine > 0 ? cosine_fault(*outcome.output_error, gate)
                                     : accuracy_fault(*outcome.output_error, tolerance);
  if (gate.least_cosine > 0) tolerance = std::max(tolerance, kHalfPrecisionRounding);
  return fault ? fault : spread_fault(*outcome.output_error, tolerance);
}

std::optional<schema::Message> tf32_note(const schema::TuneRun& run, const schema::TrialOutcome& outcome) {
  if (!outcome.output_error || run.accuracy_tolerance <= 0 || !run.accuracy_gate) return std::nullopt;
  const double error = outcome.output_error->scaled_max_abs;
  if (!is_judged_by_tolerance(*run.accuracy_gate) || !may_run_in_tf32(run, outcome)) return std::nullopt;
  if (error <= run.accuracy_tolerance || error > run.accuracy_gate->tf32_tolerance) return std::nullopt;
  return messages::within_tf32(error);
}

}  // namespace ridgeline::analysis
