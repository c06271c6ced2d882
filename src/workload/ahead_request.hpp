// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::workload {

/// A Python program that is run up to its timed part (kTimedPart of workload/torch/torch_program.hpp) and then waits
/// for whoever runs it.
struct ProgramAhead {
  std::string path;                                ///< names it, too
  std::map<std::string, std::string> environment;  ///< beyond this process's own
};
RL_DECLARE_JSON(ProgramAhead)

/// What a kind is to prepare before its turn, in this order; what was asked for before and is not named again is given
/// up.
struct AheadRequest {
  std::string kind;  ///< of the workloads
  std::vector<schema::TrialSpec> specs;
  std::vector<ProgramAhead> programs;  ///< after them
  std::int64_t most = 0;               ///< in preparation at a time
};
RL_DECLARE_JSON(AheadRequest)

}  // namespace ridgeline::workload
