// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workload/workload_registry.hpp"

namespace ridgeline::workload {

/// The kind "synthetic": see synthetic_options.hpp for the text form of its location. With RIDGELINE_SYNTHETIC_GPU in
/// the environment it claims to run on CUDA too, so that trials of a GPU can be gone through where only the driver's
/// management library (or a fake of it) is present; nothing is computed there either.
[[nodiscard]] WorkloadKind make_synthetic_kind();

}  // namespace ridgeline::workload
