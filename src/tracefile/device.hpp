// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ridgeline::trace {

/// What a file says of a GPU; empty or 0 where it says nothing.
struct Device {
  std::int32_t id = 0;
  std::string name;
  std::int32_t multiprocessors = 0;
  std::string compute_capability;       ///< "9.0"
  std::int64_t memory_bytes_per_s = 0;  ///< at most, read and written
};

}  // namespace ridgeline::trace
