// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/error.hpp"
#include "search/space_builder.hpp"

namespace ridgeline::search {

/// Which settings of the GPU's own levers go together: a CUDA graph replays on the same addresses, so it needs bound
/// GPU memory, sequential execution and fixed shapes. Empty on the CPU.
[[nodiscard]] std::vector<SpaceRule> gpu_rules(const SpaceInput& input);

/// Refuses values that contradict where the data is (--io device with host-side binding).
[[nodiscard]] base::Result<void> check_io_request(const SpaceInput& input);

}  // namespace ridgeline::search
