// SPDX-License-Identifier: Apache-2.0
#include "schema/profiled_model.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(ProfilePlan, warmup_s, time_s, least_runs, most_runs)
RL_DEFINE_JSON(ProfiledRound, plain_ns, traced_ns)
RL_DEFINE_JSON(ProfiledModel, file, start_ns, warmups, rounds, bytes_per_s, flops_per_s, paths, flops, notes)

}  // namespace ridgeline::schema
