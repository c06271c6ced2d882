// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "workload/workload_registry.hpp"

namespace ridgeline::execute {

/// The kind "python": functions that return a PyTorch model and inputs for it, as "infer.py:make". Its runtimes are
/// Python interpreters that have torch; `package_folder` holds the package ridgeline_infer.
[[nodiscard]] workload::WorkloadKind make_python_kind(std::string package_folder);

}  // namespace ridgeline::execute
