// SPDX-License-Identifier: Apache-2.0
#include "analysis/varied_settings.hpp"

#include <set>

#include "analysis/bench_experiments.hpp"

namespace ridgeline::analysis {

VariedSettings varied_settings(const schema::BenchRun& run) {
  using schema::DataMode;
  std::set<std::int64_t> batches;
  std::set<int> workers;
  std::set<schema::AmpMode> amps;
  std::set<bool> pins;
  for (const auto& trial : run.trials) {
    const auto status = trial.outcome.status;
    if (trial.stage == schema::BenchStage::experiment) continue;
    if (status != schema::TrialStatus::ok && status != schema::TrialStatus::out_of_memory) continue;
    const bool trains = trial.data != DataMode::loader_only;
    const bool fetches = trial.data == DataMode::loader || trial.data == DataMode::loader_only;
    const bool copies = trial.data == DataMode::loader || trial.data == DataMode::host;
    if (trains) batches.insert(trial.settings.batch);
    if (trains) amps.insert(trial.settings.amp);
    if (fetches) workers.insert(trial.settings.workers);
    if (copies) pins.insert(trial.settings.pin_memory);
  }
  return {batches.size() > 1, workers.size() > 1 && loads(run.request.job), amps.size() > 1,
          pins.size() > 1 && !schema::is_cpu_device(run.device)};
}

}  // namespace ridgeline::analysis
