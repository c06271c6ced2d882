// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "gpu/cuda_driver.hpp"
#include "gpu/preprocess_kernel.hpp"
#include "stream/batch_preprocessor.hpp"
#include "workload/onnx/gpu_side.hpp"

namespace ridgeline::workload {

/// The kernel of src/gpu/preprocess_kernel.cu, for all preprocessors of a GPU.
class PreprocessKernel {
 public:
  /// Errors: unsupported (a build without it), internal (the driver does not take it), with the driver's words.
  [[nodiscard]] static base::Result<std::shared_ptr<const PreprocessKernel>> load(const GpuSide& gpu, const char* ptx);
  explicit PreprocessKernel(gpu::CudaKernel kernel) : kernel_(std::move(kernel)) {}
  [[nodiscard]] gpu::CudaStatus launch(gpu::CudaStreamHandle stream, const gpu::kernel::Job& job,
                                       int frames) const noexcept;

 private:
  gpu::CudaKernel kernel_;
};

/// Preprocessing on a GPU: frames go up as they are, BGR or NV12, and one kernel does the rest. Everything is queued on
/// `stream`: a call returns before it is done, and the frames, the input and this object stay until then.
class CudaPreprocessor final : public stream::BatchPreprocessor {
 public:
  /// `gpu` must outlive it.
  CudaPreprocessor(const GpuSide& gpu, std::shared_ptr<const PreprocessKernel> kernel,
                   const stream::PreprocessOptions& options, stream::InputType type, gpu::CudaStreamHandle stream);

  /// Makes room for frames of so many bytes together, so that no later call allocates. Errors: out_of_memory.
  [[nodiscard]] base::Result<void> reserve(std::size_t bytes);
  /// `input`: an address in the GPU's memory. The context is current for the calling thread. Errors also:
  /// out_of_memory.
  [[nodiscard]] base::Result<void> run(std::span<const stream::PlannedFrame> frames, void* input) override;

 private:
  [[nodiscard]] base::Result<void> upload(std::span<const stream::PlannedFrame> frames);

  const GpuSide& gpu_;
  std::shared_ptr<const PreprocessKernel> kernel_;
  gpu::kernel::InputPlan plan_;
  gpu::CudaStreamHandle stream_;
  std::size_t room_ = 0;
  std::optional<gpu::PinnedBuffer> staging_;  ///< of frames that the GPU cannot read where they are
  std::optional<gpu::DeviceBuffer> frames_;
  std::vector<gpu::CudaAddress> addresses_;  ///< of each frame of the call
};

}  // namespace ridgeline::workload
