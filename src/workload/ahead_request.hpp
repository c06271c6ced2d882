// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
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
  std::vector<schema::TrialSpec> kept;  ///< whose processes are not used up by a trial, and go on with the next
  std::vector<ProgramAhead> programs;   ///< after the specs
  std::int64_t most = 0;                ///< in preparation at a time
};
RL_DECLARE_JSON(AheadRequest)

/// How far each of AheadRequest::specs is, in their order, then of its programs; empty: nothing is prepared here.
struct AheadStates {
  static constexpr std::string_view kReady = "ready";
  static constexpr std::string_view kFailed = "failed";
  std::vector<std::string> states;  ///< "waiting", "preparing", kReady, kFailed; "": it is not prepared
};
RL_DECLARE_JSON(AheadStates)

}  // namespace ridgeline::workload
