// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "search/space_builder.hpp"

namespace ridgeline::search {

/// Which settings of the GPU's own levers go together: a CUDA graph replays on the same addresses, so it needs bound
/// GPU memory, sequential execution and fixed shapes. Empty on the CPU.
[[nodiscard]] std::vector<SpaceRule> gpu_rules(const SpaceInput& input);

/// Those of them that look at this parameter, in words, for a model with symbolic dimensions and data in host memory.
[[nodiscard]] std::vector<std::string> gpu_rules_about(const std::string& key);

/// Refuses values that contradict where the data is (--io device with host-side binding).
[[nodiscard]] base::Result<void> check_io_request(const SpaceInput& input);

}  // namespace ridgeline::search
