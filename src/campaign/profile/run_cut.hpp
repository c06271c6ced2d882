// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "trace/trace.hpp"

namespace ridgeline::campaign {

/// The events of ONNX Runtime's profile from its Run() call number `first` on, with nodes named by their places in the
/// model where `paths` tells. What the session did before is left out. A node lasts until the next one begins, less
/// `event_ns`, what the profiler takes for it: the runtime's own work for a node is the node's, so that all together
/// take what a run takes without the profiler. Where nodes run beside each other they keep the times of the profile.
[[nodiscard]] trace::Trace counted_runs(const trace::Trace& all, std::int64_t first,
                                        const std::map<std::string, std::string>& paths, double event_ns);

}  // namespace ridgeline::campaign
