// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <cstring>

#include "workload/onnx/device_transfer.hpp"

namespace ridgeline::workload {

/// Memory of the host that stands for a device's.
class HostTransfer final : public DeviceTransfer {
 public:
  explicit HostTransfer(int& copies) : copies_(copies) {}
  [[nodiscard]] base::Result<void> enter() const override { return {}; }
  [[nodiscard]] base::Result<std::shared_ptr<void>> allocate_host(std::size_t bytes) const override {
    return std::shared_ptr<void>(std::malloc(bytes), std::free);
  }
  [[nodiscard]] base::Result<std::shared_ptr<void>> allocate_device(std::size_t bytes) const override {
    return allocate_host(bytes);
  }
  [[nodiscard]] base::Result<void> to_device(void* device, const void* host, std::size_t bytes) const override {
    return copy(device, host, bytes);
  }
  [[nodiscard]] base::Result<void> to_host(void* host, const void* device, std::size_t bytes) const override {
    return copy(host, device, bytes);
  }
  [[nodiscard]] MemoryPlace place() const noexcept override { return MemoryPlace::pinned; }

 private:
  base::Result<void> copy(void* to, const void* from, std::size_t bytes) const {
    std::memcpy(to, from, bytes);
    ++copies_;
    return {};
  }
  int& copies_;
};

}  // namespace ridgeline::workload
