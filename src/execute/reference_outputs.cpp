// SPDX-License-Identifier: Apache-2.0
#include "execute/reference_outputs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workload/output_spread.hpp"

namespace ridgeline::execute {
namespace {

using base::Result;
using schema::OutputError;
using workload::OutputSet;

constexpr std::int64_t kMostCalls = 16;
constexpr double kCallsTimeS = 3;  // for half of the calls, as far as they are more than the least

/// Of its latest outputs. JSON has no NaN.
void add_metric(OutputError& output_error, const workload::Workload& workload) {
  const auto metric = workload.metric();
  if (!metric) return;
  output_error.metric_not_finite = !std::isfinite(*metric);
  if (!output_error.metric_not_finite) output_error.metric = metric;
}

/// Judges the outputs that vary by their distribution from here on.
Result<schema::CallVariation> add_spread(const MakePrepared& prepared, OutputSet& outputs,
                                         const std::vector<std::size_t>& varying) {
  RL_TRY_ASSIGN(const auto workload, prepared());
  workload::SpreadCollector collector(outputs, varying);
  schema::CallVariation variation;
  const auto begun = base::system_clock().now();
  // One session: with two, random numbers of a seed would be the same in both halves.
  for (std::int64_t call = 0; call == 0 || call < 2 * variation.calls; ++call) {
    RL_TRY_ASSIGN(const auto outputs_now, workload->outputs());
    if (call == 0) variation.repeats = workload::varying_outputs(outputs, outputs_now).empty();
    if (call == 0 || call < variation.calls)
      collector.add_centre(outputs_now);
    else
      collector.add_call(outputs_now);
    if (call > 0) continue;
    const double call_s = std::max(1e-6, base::to_seconds(base::system_clock().now() - begun));
    variation.calls =
        std::clamp(static_cast<std::int64_t>(kCallsTimeS / call_s), workload::SpreadCollector::kLeastCalls, kMostCalls);
  }
  collector.write_to(outputs);
  variation.trend = collector.trend();
  variation.unjudged = collector.unjudged();
  variation.outputs = collector.names();
  return variation;
}

}  // namespace

Result<ReferenceOutputs> make_reference_outputs(const MakePrepared& prepared) {
  ReferenceOutputs reference;
  // Two sessions, not two runs of one: differences between builds of a session belong to the noise as well. The second
  // is a call further on: random numbers of a seed are the same in the first call of each session.
  OutputSet second;
  {
    RL_TRY_ASSIGN(const auto workload, prepared());
    RL_TRY_ASSIGN(reference.outputs, workload->outputs());
    add_metric(reference.noise, *workload);
  }
  {
    RL_TRY_ASSIGN(const auto workload, prepared());
    RL_TRY(workload->run_once());
    RL_TRY_ASSIGN(second, workload->outputs());
  }
  const auto of_first = reference.noise;
  const auto varying = workload::varying_outputs(reference.outputs, second);
  std::optional<schema::CallVariation> variation;
  if (!varying.empty()) {
    RL_TRY_ASSIGN(variation, add_spread(prepared, reference.outputs, varying));
  }
  reference.noise = workload::compare_outputs(reference.outputs, second);
  reference.noise.metric = of_first.metric;
  reference.noise.metric_not_finite = of_first.metric_not_finite;
  reference.noise.variation = std::move(variation);
  return reference;
}

Result<OutputError> compare_with_reference(workload::Workload& workload, OutputSet reference) {
  if (const auto rows = workload.repeated_rows(); rows > 0) reference = workload::repeat_rows(reference, rows);
  RL_TRY_ASSIGN(auto outputs, workload.outputs());
  auto output_error = workload::compare_outputs(reference, outputs);
  add_metric(output_error, workload);
  workload::SpreadComparison spread(reference);
  for (std::int64_t call = 0; call < spread.calls(); ++call) {
    if (call > 0) {
      RL_TRY_ASSIGN(outputs, workload.outputs());
    }
    spread.add(outputs);
  }
  output_error.spread = spread.worst();
  return output_error;
}

}  // namespace ridgeline::execute
