// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <utility>

#include "workload/onnx/device_transfer.hpp"

namespace ridgeline::workload {
namespace {

class CudaTransfer final : public DeviceTransfer {
 public:
  CudaTransfer(const GpuSide& gpu, gpu::CudaStream stream) : gpu_(gpu), stream_(std::move(stream)) {}

  [[nodiscard]] base::Result<void> enter() const override { return gpu_.context.make_current(); }

  [[nodiscard]] base::Result<std::shared_ptr<void>> allocate_host(std::size_t bytes) const override {
    RL_TRY_ASSIGN(auto buffer, gpu::PinnedBuffer::make(gpu_.driver, bytes));
    return kept(std::make_shared<gpu::PinnedBuffer>(std::move(buffer)));
  }
  [[nodiscard]] base::Result<std::shared_ptr<void>> allocate_device(std::size_t bytes) const override {
    RL_TRY_ASSIGN(auto buffer, gpu::DeviceBuffer::make(gpu_.driver, bytes));
    return kept(std::make_shared<gpu::DeviceBuffer>(std::move(buffer)));
  }
  [[nodiscard]] base::Result<void> to_device(void* device, const void* host, std::size_t bytes) const override {
    return done(gpu_.driver->copy_to_device_async(address(device), host, bytes, stream_.handle()),
                "copying inputs to the GPU");
  }
  [[nodiscard]] base::Result<void> to_host(void* host, const void* device, std::size_t bytes) const override {
    return done(gpu_.driver->copy_to_host_async(host, address(device), bytes, stream_.handle()),
                "copying outputs from the GPU");
  }
  [[nodiscard]] MemoryPlace place() const noexcept override { return MemoryPlace::device; }

 private:
  /// The buffer's address, which holds the buffer.
  template <typename Buffer>
  static std::shared_ptr<void> kept(std::shared_ptr<Buffer> buffer) {
    auto* const data = buffer->data();
    return {std::move(buffer), data};
  }
  static gpu::CudaAddress address(const void* device) { return reinterpret_cast<gpu::CudaAddress>(device); }
  [[nodiscard]] base::Result<void> done(gpu::CudaStatus status, const char* doing) const {
    if (status == gpu::kCudaSuccess) status = stream_.synchronize();
    if (status == gpu::kCudaSuccess) return {};
    return tl::unexpected<base::Error>(gpu_.driver->error(status, doing));
  }

  const GpuSide& gpu_;
  gpu::CudaStream stream_;
};

}  // namespace

base::Result<std::unique_ptr<DeviceTransfer>> make_cuda_transfer(const GpuSide& gpu) {
  RL_TRY(gpu.context.make_current());
  RL_TRY_ASSIGN(auto stream, gpu::CudaStream::make(gpu.driver));
  return std::unique_ptr<DeviceTransfer>(std::make_unique<CudaTransfer>(gpu, std::move(stream)));
}

}  // namespace ridgeline::workload
