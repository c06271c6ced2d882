// SPDX-License-Identifier: Apache-2.0
#include "analysis/bench_evidence.hpp"

namespace ridgeline::analysis {

std::optional<BenchEvidence> find_evidence(const schema::BenchRun& run, const schema::TrainingSettings& settings,
                                           schema::DataMode data) {
  BenchEvidence out;
  for (const auto& trial : run.trials) {
    if (trial.settings != settings || trial.data != data || trial.outcome.status != schema::TrialStatus::ok) continue;
    if (!trial.outcome.measurement || trial.outcome.measurement->samples_per_s.value <= 0) continue;
    out.rate += trial.outcome.measurement->samples_per_s.value;
    out.low += trial.outcome.measurement->samples_per_s.low;
    out.high += trial.outcome.measurement->samples_per_s.high;
    ++out.count;
    out.trials.push_back(trial.id);
    out.resources = trial.outcome.measurement->resources;
    out.phases = trial.outcome.measurement->phases;
  }
  if (out.count == 0) return std::nullopt;
  out.rate /= out.count;
  out.low /= out.count;
  out.high /= out.count;
  return out;
}

bool clearly_faster(const BenchEvidence& other, const BenchEvidence& than, double share) noexcept {
  return other.rate >= than.rate * (1 + share) && other.low > than.high;
}

}  // namespace ridgeline::analysis
