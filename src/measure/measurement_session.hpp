// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>

#include "base/error.hpp"
#include "schema/measurement.hpp"
#include "schema/trial_outcome.hpp"
#include "schema/trial_spec.hpp"
#include "workload/workload.hpp"

namespace ridgeline::measure {

/// Shared between the timing thread and the worker's heartbeat thread.
struct MeasureControl {
  std::atomic<std::int64_t> steps{0};     ///< progress, bumped between inferences with relaxed order
  std::atomic<bool> cancel{false};
  std::atomic<schema::TrialPhase> phase{schema::TrialPhase::warmup};
  /// Stop early once the lower bound of the cost is above this (a clear loser). In ns (latency) or ns an item (throughput).
  std::optional<double> abandon_above_ns;
  bool throughput = false;                ///< the cost is wall time an item instead of the median latency
};

/// Times a prepared workload: first run, warm-up until steady (floor plan.warmup_runs), then samples until the 95 %
/// interval of the median is within plan.target_interval_ratio or the budget is spent. Buffers are sized before the
/// timed window; statistics for the stop rule run between batches of samples, outside any timed inference. With several
/// lanes all threads start together and every lane runs until the last one stops; only the common window counts.
/// Errors: the workload's own, with its code.
[[nodiscard]] base::Result<schema::Measurement> measure(workload::Workload& workload, const schema::MeasurementPlan& plan,
                                                        MeasureControl& control);

/// Both workloads prepared in this process; quads of blocks A B B A, each after a settling pause with its first
/// inferences discarded.
[[nodiscard]] base::Result<schema::PairedMeasurement> measure_paired(workload::Workload& a, workload::Workload& b,
                                                                     const schema::PairedPlan& plan, MeasureControl& control);

}  // namespace ridgeline::measure
