// SPDX-License-Identifier: Apache-2.0
#include "workload/ahead_request.hpp"

namespace ridgeline::workload {

RL_DEFINE_JSON_REQUIRED(ProgramAhead, path, environment)
RL_DEFINE_JSON_REQUIRED(AheadRequest, kind, specs, kept, programs, most)
RL_DEFINE_JSON_REQUIRED(AheadStates, states)

}  // namespace ridgeline::workload
