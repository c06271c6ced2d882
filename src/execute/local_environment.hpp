// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/environment.hpp"

namespace ridgeline::execute {

/// This machine, with its GPUs as NVML lists them, less what CUDA_VISIBLE_DEVICES hides.
[[nodiscard]] schema::Environment local_environment();

}  // namespace ridgeline::execute
