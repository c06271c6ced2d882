// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/pinned_images.hpp"

#include <utility>

namespace ridgeline::workload {
namespace {

/// Freed by whichever thread is the last to need it, to which the context may be new.
struct PinnedBlock {
  std::shared_ptr<const GpuSide> gpu;
  gpu::PinnedBuffer buffer;

  PinnedBlock(std::shared_ptr<const GpuSide> side, gpu::PinnedBuffer made)
      : gpu(std::move(side)), buffer(std::move(made)) {}
  PinnedBlock(const PinnedBlock&) = delete;
  PinnedBlock& operator=(const PinnedBlock&) = delete;
  ~PinnedBlock() { (void)gpu->context.make_current(); }
};

class PinnedImages final : public stream::ImageMemory {
 public:
  explicit PinnedImages(std::shared_ptr<const GpuSide> gpu) : gpu_(std::move(gpu)) {}
  [[nodiscard]] stream::ImagePlace place() const noexcept override { return stream::ImagePlace::page_locked; }
  [[nodiscard]] std::shared_ptr<std::uint8_t> allocate(std::size_t bytes) override {
    if (!gpu_->context.make_current()) return nullptr;
    auto buffer = gpu::PinnedBuffer::make(gpu_->driver, bytes);
    if (!buffer) return nullptr;
    auto block = std::make_shared<PinnedBlock>(gpu_, std::move(*buffer));
    auto* const data = static_cast<std::uint8_t*>(block->buffer.data());
    return {std::move(block), data};
  }

 private:
  std::shared_ptr<const GpuSide> gpu_;
};

}  // namespace

std::shared_ptr<stream::ImageMemory> make_pinned_images(std::shared_ptr<const GpuSide> gpu) {
  return std::make_shared<PinnedImages>(std::move(gpu));
}

}  // namespace ridgeline::workload
