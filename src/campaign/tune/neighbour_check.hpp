// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
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

/// Runs one trial alone on every lane, then on all at once, each with the session that it had alone. A lane whose own
/// pace differs from lane 0's by more than kMostDisturbance is left out, since its figures cannot stand beside the
/// others; when any of the rest is slowed down by more than that by the others, only lane 0 is left. What is past the
/// limit is looked at again with new sessions, as these differ by as much among themselves: three that agree decide, or
/// the median of up to seven; where a quarter of `time_left` is used up, that of those so far. `specs` are the same
/// trial for each lane, whose plan is timed for longer here. No session is left behind. Error: cancelled, out of time,
/// or no worker can be started.
[[nodiscard]] base::Result<Neighbours> check_neighbours(execute::Executor& executor,
                                                        const std::vector<schema::TrialSpec>& specs,
                                                        schema::Objective objective,
                                                        const std::function<execute::TimeLeft()>& time_left);

}  // namespace ridgeline::campaign
