// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "search/space_builder.hpp"

namespace ridgeline::search {

/// TensorRT's explicit shapes, which count all three or not at all.
inline constexpr std::array kTrtProfiles{"trt_profile_min_shapes", "trt_profile_opt_shapes", "trt_profile_max_shapes"};

/// Whether the user pins the parameter or lists its values.
[[nodiscard]] bool asks_for(const SpaceRequest& request, std::string_view key);

/// Which settings of the GPU's own levers go together: a CUDA graph replays on the same addresses, so it needs bound
/// GPU memory, sequential execution and fixed shapes. Empty on the CPU.
[[nodiscard]] std::vector<SpaceRule> gpu_rules(const SpaceInput& input);

/// Those of them that look at this parameter, in words, for a model with symbolic dimensions and data in host memory.
[[nodiscard]] std::vector<std::string> gpu_rules_about(const std::string& key);

/// Refuses values that contradict where the data is (--io device with host-side binding).
[[nodiscard]] base::Result<void> check_io_request(const SpaceInput& input);

}  // namespace ridgeline::search
