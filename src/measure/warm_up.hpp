// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.hpp"
#include "measure/concurrent_runner.hpp"
#include "schema/measurement.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::measure {

struct WarmUpResult {
  double first_run_ns = 0;
  std::int64_t runs = 0;  ///< a caller, after the first
  double time_ns = 0;
  double expected_latency_ns = 0;  ///< median of the later half; 0 when nothing ran
  bool cancelled = false;
  std::optional<schema::QualityFlag> flag;  ///< "not_steady"
};

/// First inference of every caller, then inferences until their times are steady (check_steadiness), at least
/// plan.warmup_runs per caller and kMinWarmUpS, at most plan.warmup_max_s beyond that floor.
/// Errors: the workload's own.
[[nodiscard]] base::Result<WarmUpResult> warm_up(ConcurrentRunner& runner, const schema::MeasurementPlan& plan,
                                                 MeasureControl& control);

/// Clocks of processors take tens of milliseconds to rise, so a faster verdict would be worth little.
inline constexpr double kMinWarmUpS = 0.05;

}  // namespace ridgeline::measure
