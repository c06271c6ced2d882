// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analysis/bench_experiments.hpp"
#include "schema/training_run.hpp"

namespace ridgeline::analysis {

/// Why training under `base` is not faster, by comparison of trials of the run: causes worth at least 5 % each, the
/// largest predicted gain first; at least one where base was measured ("gpu_bound" when nothing else holds it back and
/// the device is known to be busy, "undetermined" when the experiments do not show that). Codes: storage_bound,
/// decode_bound, too_few_workers, unpinned_copy, batch_too_small, launch_bound, copy_bound, gpu_bound (cpu_bound on a
/// CPU), step_waits, memory_thrashing, amp_would_help, cpu_oversubscribed, undetermined.
[[nodiscard]] std::vector<schema::BenchFinding> diagnose_bench(const schema::BenchRun& run,
                                                               const DiagnosisInput& input);

/// Whether `base` has to be measured again before its findings can be believed: once for the first that promises a
/// gain, as the machine may have changed between the base and the experiment, and a third time where the two do not
/// agree. `only_if_noisy`: not for a base whose interval is narrow, which can wait for the last experiment.
[[nodiscard]] bool needs_another_base(const schema::BenchRun& run, const DiagnosisInput& input, bool only_if_noisy);

}  // namespace ridgeline::analysis
