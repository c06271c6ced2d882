// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workload/workload_registry.hpp"

namespace ridgeline::app {

/// Everything that a worker of this program can run.
[[nodiscard]] workload::WorkloadRegistry known_workloads();

}  // namespace ridgeline::app
