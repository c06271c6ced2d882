// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "execute/python_fork_server.hpp"
#include "workload/workload_registry.hpp"

namespace ridgeline::app {

/// Everything that a worker of this program can run.
[[nodiscard]] workload::WorkloadRegistry known_workloads();

/// For trials of a PyTorch model; null for other workloads, and where the interpreter ("": python3) is not found. Make
/// it before what starts workers.
[[nodiscard]] std::unique_ptr<execute::PythonForkServer> python_fork_server(const schema::WorkloadRef& workload,
                                                                            const std::string& python_exe);

}  // namespace ridgeline::app
