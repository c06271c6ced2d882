// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/profiled_model.hpp"
#include "trace/trace.hpp"

namespace ridgeline::campaign {

/// The events of ONNX Runtime's profile behind its warm-ups, with nodes named by their places in the model where the
/// worker told, and FLOPs where the profile does not know them. What the session did before is left out. A node lasts
/// until the next one begins, less what the profiler takes for it, which is taken off the run too: the runtime's own
/// work for a node is the node's, so that all together take what a run takes without the profiler. What runs
/// within another (the body of a Loop) ends when the profile says so: the rest is the other's. Where nodes run beside
/// each other they keep the times of the profile. `own_ns`: what the profiler takes of a run; 0: nodes keep
/// their times.
[[nodiscard]] trace::Trace counted_runs(const trace::Trace& all, const schema::ProfiledModel& model, double own_ns);

}  // namespace ridgeline::campaign
