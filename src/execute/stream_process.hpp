// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workload/workload_registry.hpp"

namespace ridgeline::execute {

/// The body of `ridgeline worker --stream`: runs one pipeline for a parent (execute/stream_protocol.hpp) and ends. The
/// exit code: 0, also where the run failed and the parent was told; 2 when no parent of ours set up its descriptors.
[[nodiscard]] int stream_main(const workload::WorkloadRegistry& registry);

}  // namespace ridgeline::execute
