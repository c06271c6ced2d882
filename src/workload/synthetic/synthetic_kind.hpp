// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "workload/synthetic/virtual_clock.hpp"
#include "workload/workload_registry.hpp"

namespace ridgeline::workload {

/// The kind "synthetic": see synthetic_options.hpp for the text form of its location. In a worker whose parent has a
/// simulated clock (VirtualClock::kVariable) workloads live on that one, else on one of this process. With
/// RIDGELINE_SYNTHETIC_GPU in the environment it claims to run on CUDA too, so that trials of a GPU can be gone through
/// where only the driver's management library (or a fake of it) is present; nothing is computed there either.
[[nodiscard]] WorkloadKind make_synthetic_kind();
/// The same on that clock.
[[nodiscard]] WorkloadKind make_synthetic_kind(std::shared_ptr<const VirtualClock> clock);

/// The clock of a run of this workload, to be handed to all its workers (VirtualClock::kVariable); nullptr where time
/// is real. Errors: io; invalid_argument (a location that cannot be read).
[[nodiscard]] base::Result<std::shared_ptr<const VirtualClock>> simulated_clock(const schema::WorkloadRef& workload);

}  // namespace ridgeline::workload
