// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/decoded_images.hpp"

#include <mutex>
#include <utility>

#include "workload/onnx/gpu_side.hpp"

namespace ridgeline::workload {
namespace {

/// Of one size; those of another are freed.
constexpr std::size_t kMostKept = 64;

/// What blocks share, so that they may outlive the object that made them.
struct Kept {
  explicit Kept(std::unique_ptr<GpuSide> side) : gpu(std::move(side)) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  /// Blocks are freed by whichever thread is last, to which the context may be new.
  ~Kept() { (void)gpu->context.make_current(); }

  std::unique_ptr<GpuSide> gpu;
  std::mutex mutex;
  std::vector<gpu::DeviceBuffer> free;
};

class DecodedImages final : public stream::DeviceImages {
 public:
  explicit DecodedImages(std::unique_ptr<GpuSide> gpu) : kept_(std::make_shared<Kept>(std::move(gpu))) {}

  [[nodiscard]] void* context() const noexcept override { return kept_->gpu->context.handle(); }

  [[nodiscard]] base::Result<stream::ImageBytes> copy(const stream::DeviceFrame& frame) override {
    RL_TRY(kept_->gpu->context.make_current());
    const auto row = static_cast<std::size_t>(frame.width);
    const auto rows = static_cast<std::size_t>(frame.height);
    const auto size = row * rows + row * (rows / 2);
    RL_TRY_ASSIGN(auto block, take(size));
    const auto& driver = *kept_->gpu->driver;
    const auto to = reinterpret_cast<gpu::CudaAddress>(block.get());
    auto status = driver.copy_rows_on_device_async(to, frame.luma, static_cast<std::size_t>(frame.luma_stride), row,
                                                   rows, gpu::kLegacyStream);
    if (status == gpu::kCudaSuccess)
      status =
          driver.copy_rows_on_device_async(to + row * rows, frame.chroma, static_cast<std::size_t>(frame.chroma_stride),
                                           row, rows / 2, gpu::kLegacyStream);
    if (status == gpu::kCudaSuccess) status = driver.synchronize(gpu::kLegacyStream);
    if (status != gpu::kCudaSuccess)
      return tl::unexpected<base::Error>(driver.error(status, "copying a decoded frame on the GPU"));
    return stream::ImageBytes(std::move(block), size, stream::ImagePlace::device);
  }

 private:
  base::Result<std::shared_ptr<std::uint8_t>> take(std::size_t size) {
    std::optional<gpu::DeviceBuffer> buffer;
    {
      const std::lock_guard lock(kept_->mutex);
      while (!kept_->free.empty() && !buffer) {
        if (kept_->free.back().size() == size) buffer = std::move(kept_->free.back());
        kept_->free.pop_back();
      }
    }
    if (!buffer) {
      RL_TRY_ASSIGN(buffer, gpu::DeviceBuffer::make(kept_->gpu->driver, size));
    }
    auto* const data = static_cast<std::uint8_t*>(buffer->data());
    auto held = std::make_shared<gpu::DeviceBuffer>(std::move(*buffer));
    return std::shared_ptr<std::uint8_t>(data, [held, kept = kept_](std::uint8_t*) {
      const std::lock_guard lock(kept->mutex);
      if (kept->free.size() < kMostKept) return kept->free.push_back(std::move(*held));
      (void)kept->gpu->context.make_current();
      const auto freed = std::move(*held);
    });
  }

  std::shared_ptr<Kept> kept_;
};

}  // namespace

base::Result<std::shared_ptr<stream::DeviceImages>> make_decoded_images(const std::vector<std::string>& drivers) {
  RL_TRY_ASSIGN(auto gpu, GpuSide::open(drivers));
  return std::make_shared<DecodedImages>(std::move(gpu));
}

}  // namespace ridgeline::workload
