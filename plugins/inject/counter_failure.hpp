// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti_result.h>

#include "launch_counters.hpp"

namespace ridgeline::inject::RL_CUPTI {

/// What CUPTI answered, and what it was asked to do: "start counting".
struct CuptiFailure {
  CUptiResult result = CUPTI_SUCCESS;
  const char* doing = "";
  explicit operator bool() const noexcept { return result != CUPTI_SUCCESS; }
};

/// What an answer means for the user, who may have to change something.
[[nodiscard]] inline CounterState state_of(CUptiResult result) {
  constexpr int kInvalidChipName = 46;  // CUDA 12's headers lack it
  if (static_cast<int>(result) == kInvalidChipName) return CounterState::unsupported;
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES: return CounterState::no_privilege;
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED: return CounterState::busy;
    case CUPTI_ERROR_API_NOT_IMPLEMENTED:
    case CUPTI_ERROR_NOT_COMPATIBLE:
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_INVALID_METRIC_NAME:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED:
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED: return CounterState::unsupported;
    default: return CounterState::failed;
  }
}

}  // namespace ridgeline::inject::RL_CUPTI
