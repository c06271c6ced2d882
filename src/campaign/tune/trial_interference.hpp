// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "campaign/interference_check.hpp"
#include "execute/calls.hpp"
#include "schema/objective.hpp"

namespace ridgeline::campaign {

/// check_interference with a trial of ONNX inference. `specs`: the same trial for each slot, whose plan is timed for
/// longer here; `time_left`: what each gets of the run's time. Error: cancelled, out of time, or no worker can be
/// started.
[[nodiscard]] base::Result<Interference> check_trial_interference(execute::Executor& executor,
                                                                  const std::vector<schema::TrialSpec>& specs,
                                                                  schema::Objective objective,
                                                                  const std::function<execute::TimeLeft()>& time_left);

}  // namespace ridgeline::campaign
