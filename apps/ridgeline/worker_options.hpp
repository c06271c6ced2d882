// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "execute/executor.hpp"

namespace ridgeline::app {

/// Workers are this same binary; an interrupt ends the running trial.
[[nodiscard]] execute::WorkerOptions worker_options(execute::Isolation isolation);

}  // namespace ridgeline::app
