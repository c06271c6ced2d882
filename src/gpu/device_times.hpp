// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ridgeline::gpu {

/// What a GPU did for this process, by events around its work. Times in nanoseconds, gaps inside a piece of work
/// included; work that overlaps counts once.
struct DeviceTimes {
  std::int64_t busy_ns = 0;     ///< at least one inference was under way
  std::int64_t upload_ns = 0;   ///< input was on its way to the GPU
  std::int64_t hidden_ns = 0;   ///< of it, while an inference was under way
  std::int64_t inferences = 0;  ///< that ended
  std::int64_t slow = 0;        ///< of them, that took more than twice the median of their batch size
};

}  // namespace ridgeline::gpu
