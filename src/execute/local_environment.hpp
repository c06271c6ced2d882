// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "schema/environment.hpp"

namespace ridgeline::execute {

/// This machine, with its GPUs as NVML lists them, less what CUDA_VISIBLE_DEVICES hides.
[[nodiscard]] schema::Environment local_environment();

/// What programs can still take, within the limits of a container; 0: not known. Does not look at GPUs.
[[nodiscard]] std::int64_t available_memory_bytes();

}  // namespace ridgeline::execute
