// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>
#include <cupti.h>

#include "tracefile/events.hpp"

namespace ridgeline::inject::RL_CUPTI {

/// What a call of the driver does with regard to launches.
enum class LaunchKind : std::uint8_t {
  none,
  kernel,
  graph,
  several_devices,  ///< kernels that wait for each other, on several GPUs
  capture_begins,
  capture_ends,
};

struct LaunchCall {
  LaunchKind kind = LaunchKind::none;
  trace::Dim3 grid{};
  trace::Dim3 block{};
  CUstream stream = nullptr;
  bool per_thread = false;  ///< stream nullptr is the thread's own default one
};

[[nodiscard]] LaunchKind launch_kind(CUpti_CallbackId driver_call);
/// Of a kernel or a graph: how it is launched.
[[nodiscard]] LaunchCall launch_call(CUpti_CallbackId driver_call, const void* parameters);

}  // namespace ridgeline::inject::RL_CUPTI
