// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workload/workload_registry.hpp"

namespace ridgeline::workload {

/// The kind "synthetic": see synthetic_options.hpp for the text form of its location.
[[nodiscard]] WorkloadKind make_synthetic_kind();

}  // namespace ridgeline::workload
