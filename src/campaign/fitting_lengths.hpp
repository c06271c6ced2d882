// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "base/error.hpp"
#include "execute/executor.hpp"
#include "schema/model_description.hpp"
#include "workload/workload_registry.hpp"

namespace ridgeline::campaign {

/// Calls `attempt`, which runs the model as `workload` says. When the runtime refuses its inputs (refused_inputs), puts
/// other sizes of axes whose length was guessed into `workload` and calls it again, a few times. Returns the model with
/// the sizes that were taken, or nullopt where the first ones were. `asked`: with the shapes that the user gave.
/// Errors: those of `attempt`; when every size is refused the first one, and `workload` is as it was.
[[nodiscard]] base::Result<std::optional<schema::ModelDescription>> with_fitting_lengths(
    execute::Executor& executor, workload::InspectRequest asked, schema::WorkloadRef& workload,
    const std::function<base::Result<void>()>& attempt);

}  // namespace ridgeline::campaign
