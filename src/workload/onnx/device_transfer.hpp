// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "base/error.hpp"
#include "workload/onnx/gpu_side.hpp"
#include "workload/onnx/ort_values.hpp"

namespace ridgeline::workload {

/// Memory of the device that a session works on, memory of the host beside it, and copies between the two, each of
/// which is over when it returns. One thread, which has called enter().
class DeviceTransfer {
 public:
  virtual ~DeviceTransfer() = default;
  [[nodiscard]] virtual base::Result<void> enter() const = 0;
  /// Errors: out_of_memory.
  [[nodiscard]] virtual base::Result<std::shared_ptr<void>> allocate_host(std::size_t bytes) const = 0;
  [[nodiscard]] virtual base::Result<std::shared_ptr<void>> allocate_device(std::size_t bytes) const = 0;
  [[nodiscard]] virtual base::Result<void> to_device(void* device, const void* host, std::size_t bytes) const = 0;
  [[nodiscard]] virtual base::Result<void> to_host(void* host, const void* device, std::size_t bytes) const = 0;
  /// How a runtime is told of the device's memory.
  [[nodiscard]] virtual MemoryPlace place() const noexcept = 0;
};

/// Of an NVIDIA GPU, on a stream of its own. `gpu` must outlive it.
[[nodiscard]] base::Result<std::unique_ptr<DeviceTransfer>> make_cuda_transfer(const GpuSide& gpu);

}  // namespace ridgeline::workload
