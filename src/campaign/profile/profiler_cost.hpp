// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/profile.hpp"
#include "schema/profiled_model.hpp"

namespace ridgeline::campaign {

/// Nanoseconds that ONNX Runtime's profiler takes of a call: the mean over every other round, from the first on, of the
/// difference of its medians. 0 where chance may have made it. A model of empty nodes would not tell: an
/// event costs more where the nodes beside it leave caches cold.
[[nodiscard]] double own_cost_ns(const schema::ProfiledModel& model);

/// The same and what it leaves, by the rounds that own_cost_ns did not use, so that its figure can be checked against
/// the latency without it. `tables` has a step for each traced call, of the processes of `models`, with the profiler's
/// part taken off their nodes where `own_is_off`. `nodes`: of a call.
[[nodiscard]] schema::ProfileCost profiler_cost(const std::vector<schema::ProfiledModel>& models,
                                                const std::vector<schema::ProfileTables>& tables, double nodes,
                                                bool own_is_off);

}  // namespace ridgeline::campaign
