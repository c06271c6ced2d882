// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/training_run.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::report {

/// The times of the run follow a formula. Its reports, its JSON and the first line on a terminal say so.
using schema::is_simulated;
[[nodiscard]] inline bool is_simulated(const schema::BenchRun& run) { return run.request.job.kind == "synthetic"; }

[[nodiscard]] inline bool is_simulated(const schema::Run& run) { return schema::is_simulated(run.kind, run.line); }
[[nodiscard]] inline bool is_simulated(const schema::RunSummary& run) {
  return schema::is_simulated(run.kind, run.line);
}

}  // namespace ridgeline::report
