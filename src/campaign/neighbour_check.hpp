// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "execute/executor.hpp"
#include "schema/objective.hpp"

namespace ridgeline::campaign {

/// Which lanes may measure side by side.
struct Neighbours {
  static constexpr double kMostDisturbance = 0.03;  ///< of the objective's value

  std::vector<std::size_t> lanes{0};  ///< always with lane 0, first
  std::string note;                   ///< one line: what was found
};

/// Runs one trial alone on every lane, then on all at once. A lane whose own pace differs from lane 0's by more than
/// kMostDisturbance is left out, since its figures cannot stand beside the others; when any of the rest is slowed down
/// by more than that by the others, only lane 0 is left. `specs` are the same trial for each lane. Error: cancelled, or
/// no worker can be started.
[[nodiscard]] base::Result<Neighbours> check_neighbours(execute::Executor& executor,
                                                        const std::vector<schema::TrialSpec>& specs,
                                                        schema::Objective objective);

}  // namespace ridgeline::campaign
