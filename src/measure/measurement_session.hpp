// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/error.hpp"
#include "gpu/round_watch.hpp"
#include "measure/paired_arm.hpp"
#include "schema/measurement.hpp"
#include "schema/trial_outcome.hpp"
#include "schema/trial_spec.hpp"
#include "workload/workload.hpp"

namespace ridgeline::measure {

/// Shared between the timing thread and the worker's heartbeat thread.
struct MeasureControl {
  std::atomic<std::int64_t> steps{0};  ///< caller 0's inferences so far, warm-up included; relaxed order
  std::atomic<bool> cancel{false};
  std::atomic<schema::TrialPhase> phase{schema::TrialPhase::warmup};
  /// Stop early once the lower bound of the cost is above this (a clear loser). In ns (latency) or ns an item
  /// (throughput).
  std::optional<double> stop_above_ns;
  bool throughput = false;  ///< the cost is wall time an item instead of the median latency
  /// Observer of the GPU that the workload runs on; nullptr: none, every round counts. Must outlive the measurement.
  gpu::RoundWatch* gpu = nullptr;
  /// Of a comparison: seconds from its beginning within which a round has to end to be begun at all.
  std::optional<double> ends_within_s;
  /// By which that counts, and what making sessions takes: the clock of the workloads. Must outlive the measurement.
  const base::Clock* clock = &base::system_clock();
};

/// Times a prepared workload: first run, warm-up until steady (floor plan.warmup_runs), then samples until the 95 %
/// interval of the median is within plan.target_interval_ratio or the budget is spent (it wins over min_runs; a fixed
/// number of runs has no budget). Buffers are sized before the timed window; statistics for the stop rule run between
/// rounds of samples, outside any timed inference. With several callers all threads start together and every caller
/// runs until the last one stops; only the common window counts. Counts in the plan are a caller's, except max_runs.
/// The calling thread is caller 0. On a virtual clock callers run one after the other, so that results are
/// reproducible. With control.gpu set, parts of the window in which the GPU throttled its clocks are taken again
/// (ThrottleGuard). Flags: not_steady, few_samples, wide_interval, drift, disturbed, throttled, throttled_rounds,
/// gpu_shared, cancelled (level error), and the workload's own. Not set here: peak_rss_bytes, because its mark is reset
/// before prepare. Errors: the workload's own, with its code; invalid_argument (a plan out of range); out_of_memory
/// (buffers, threads).
[[nodiscard]] base::Result<schema::Measurement> measure(workload::Workload& workload,
                                                        const schema::MeasurementPlan& plan, MeasureControl& control);

/// What of a comparison chance is to decide, so that no arm has an advantage for good.
struct PairedOrder {
  std::uint64_t seed = 1;  ///< of every two ABBA rounds, which one is mirrored
  bool b_first = false;    ///< arm B is warmed up first: inferences take their memory the first time they run
};

/// ABBA rounds of blocks A B B A, one of every two mirrored (B A A B). Each block after a settling pause (system clock
/// only) with its first inferences discarded. Warm-up: first run and until steady, each arm by itself. With control.gpu
/// set, ABBA rounds in which the GPU throttled its clocks are taken again. When cancelled, the whole ABBA rounds done
/// so far with flag "cancelled" (level error). Errors: as above.
[[nodiscard]] base::Result<schema::PairedMeasurement> measure_paired(PairedArm& a, PairedArm& b,
                                                                     const schema::PairedPlan& plan,
                                                                     MeasureControl& control, PairedOrder order = {});
/// Of two workloads that are prepared in this process.
[[nodiscard]] base::Result<schema::PairedMeasurement> measure_paired(workload::Workload& a, workload::Workload& b,
                                                                     const schema::PairedPlan& plan,
                                                                     MeasureControl& control, PairedOrder order = {});

}  // namespace ridgeline::measure
