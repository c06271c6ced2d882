// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.hpp"
#include "schema/tune_request.hpp"

namespace ridgeline::campaign {

/// What the user says of how long and how often to measure; nullopt: nothing.
struct TuneEffort {
  bool quick = false;
  std::optional<std::int64_t> warmup_runs;
  std::optional<std::int64_t> runs;
  std::optional<double> trial_time_s;
};

/// The request's plans of trials and comparisons, and how many finalists are compared: a tail that the objective or a
/// constraint is about needs more samples, and longer. Errors (invalid_argument): too few runs for such an objective.
[[nodiscard]] base::Result<void> plan_effort(const TuneEffort& effort, schema::TuneRequest& request);

}  // namespace ridgeline::campaign
