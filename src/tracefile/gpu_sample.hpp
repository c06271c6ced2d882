// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ridgeline::trace {

/// What a GPU's driver reported of it at one moment of a recording; -1: not known.
struct GpuSample {
  std::int64_t time_ns = 0;  ///< by the clock of the events
  std::int32_t device = 0;   ///< as GpuLane::device
  std::int32_t sm_mhz = -1;
  std::int32_t memory_mhz = -1;
  std::int32_t power_mw = -1;
  std::int32_t temperature_c = -1;
  std::int64_t reasons = -1;  ///< bits of nvmlClocksEventReason: why clocks are not higher
};

}  // namespace ridgeline::trace
