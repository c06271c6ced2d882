// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "campaign/tune/run_context.hpp"

namespace ridgeline::campaign {

/// The first phase: looks at machine, model, inputs and runtime, chooses the provider, and makes the request's plans
/// suit both. Errors: of the executor, and requests that cannot be met here.
[[nodiscard]] base::Result<void> prepare(RunContext& context);

}  // namespace ridgeline::campaign
