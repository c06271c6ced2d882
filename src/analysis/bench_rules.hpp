// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/training_run.hpp"

namespace ridgeline::analysis {

/// A trial that the diagnosis of `base` needs.
struct BenchExperiment {
  schema::TrainingSettings settings;
  schema::DataMode data = schema::DataMode::loader;
  std::string reason;
};

/// What to run so that diagnose_bench can tell every cause apart: data in host memory, data on the device, twice the
/// workers, half the workers, twice and half the batch, the other pinning, AMP, the loader alone. `cores`: usable by
/// the process. The order is by usefulness, for a run whose time is short.
[[nodiscard]] std::vector<BenchExperiment> plan_experiments(const schema::TrainingSettings& base, bool on_cpu,
                                                            double cores);

struct DiagnosisInput {
  schema::TrainingSettings base;  ///< what is explained: the recommended or the current settings
  bool on_cpu = false;
  double cores = 0;  ///< 0: not known
};

/// Why training under `base` is not faster, by comparison of trials of the run: causes worth at least 5 % each, the
/// largest predicted gain first; at least one where base was measured ("gpu_bound" when nothing else holds it back).
/// Codes: storage_bound, decode_bound, too_few_workers, unpinned_copy, batch_too_small, launch_bound, gpu_bound
/// (cpu_bound on a CPU), memory_thrashing, amp_would_help, cpu_oversubscribed.
[[nodiscard]] std::vector<schema::BenchFinding> diagnose_bench(const schema::BenchRun& run,
                                                               const DiagnosisInput& input);

}  // namespace ridgeline::analysis
