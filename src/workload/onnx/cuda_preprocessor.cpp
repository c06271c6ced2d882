// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/cuda_preprocessor.hpp"

#include <algorithm>
#include <cstring>

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
namespace kernel = gpu::kernel;

static_assert(static_cast<int>(stream::PixelFormat::bgr24) == kernel::kBgr24);
static_assert(static_cast<int>(stream::PixelFormat::rgb24) == kernel::kRgb24);
static_assert(static_cast<int>(stream::PixelFormat::gray8) == kernel::kGray8);
static_assert(static_cast<int>(stream::PixelFormat::nv12) == kernel::kNv12);

constexpr unsigned kBlockWidth = 32;  // neighbours in a row write neighbouring values
constexpr unsigned kBlockHeight = 8;
constexpr std::size_t kFrameAlignment = 256;  // of each frame, so that rows of many sizes are read in whole sectors

std::size_t aligned(std::size_t bytes) { return (bytes + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment; }

unsigned blocks(int values, unsigned of) { return (static_cast<unsigned>(values) + of - 1) / of; }

int kernel_type(stream::InputType type) {
  switch (type) {
    case stream::InputType::float16: return kernel::kFloat16;
    case stream::InputType::uint8: return kernel::kUint8;
    default: return kernel::kFloat32;
  }
}

kernel::InputPlan plan_of(const stream::PreprocessOptions& options, stream::InputType type) {
  kernel::InputPlan plan;
  plan.channels = options.channels == stream::ChannelOrder::gray ? 1 : 3;
  plan.interleaved = options.layout == stream::TensorLayout::nhwc ? 1 : 0;
  plan.bgr = options.channels == stream::ChannelOrder::bgr ? 1 : 0;
  plan.type = kernel_type(type);
  plan.border = options.border;
  // A model of bytes takes pixels as they are.
  if (type == stream::InputType::uint8) return plan;
  const auto affine = stream::normalisation_of(options);
  std::copy(affine.gain.begin(), affine.gain.end(), plan.gain);
  std::copy(affine.bias.begin(), affine.bias.end(), plan.bias);
  return plan;
}

kernel::FramePlan plan_of(const stream::PlannedFrame& frame, gpu::CudaAddress pixels) {
  const auto& [image, geometry] = frame;
  kernel::FramePlan plan;
  plan.pixels = pixels;
  plan.width = image->width;
  plan.height = image->height;
  plan.format = static_cast<int>(image->format);
  plan.detail_width = geometry.detail_width;
  plan.detail_height = geometry.detail_height;
  plan.content_width = geometry.content_width();
  plan.content_height = geometry.content_height();
  plan.left = static_cast<int>(geometry.offset_x);
  plan.top = static_cast<int>(geometry.offset_y);
  return plan;
}

gpu::CudaAddress address_of(const void* device) { return reinterpret_cast<gpu::CudaAddress>(device); }

}  // namespace

base::Result<std::shared_ptr<const PreprocessKernel>> PreprocessKernel::load(const GpuSide& gpu, const char* ptx) {
  if (*ptx == '\0')
    return base::fail(ErrorCode::unsupported, "this build of Ridgeline has no CUDA kernels")
        .hint("build it with -DRIDGELINE_CUDA_KERNELS=ON");
  RL_TRY(gpu.context.make_current());
  RL_TRY_ASSIGN(auto kernel, gpu::CudaKernel::make(gpu.driver, ptx, "ridgeline_preprocess"));
  return std::make_shared<const PreprocessKernel>(std::move(kernel));
}

gpu::CudaStatus PreprocessKernel::launch(gpu::CudaStreamHandle stream, const kernel::Job& job,
                                         int frames) const noexcept {
  return kernel_.launch(
      stream,
      {blocks(job.input.width, kBlockWidth), blocks(job.input.height, kBlockHeight), static_cast<unsigned>(frames)},
      {kBlockWidth, kBlockHeight, 1}, &job);
}

CudaPreprocessor::CudaPreprocessor(const GpuSide& gpu, std::shared_ptr<const PreprocessKernel> kernel,
                                   const stream::PreprocessOptions& options, stream::InputType type,
                                   gpu::CudaStreamHandle stream)
    : gpu_(gpu), kernel_(std::move(kernel)), plan_(plan_of(options, type)), stream_(stream) {}

base::Result<void> CudaPreprocessor::reserve(std::size_t bytes) {
  if (bytes <= room_) return {};
  room_ = 0;
  staging_.reset();
  frames_.reset();
  RL_TRY_ASSIGN(frames_, gpu::DeviceBuffer::make(gpu_.driver, bytes));
  RL_TRY_ASSIGN(staging_, gpu::PinnedBuffer::make(gpu_.driver, bytes));
  room_ = bytes;
  return {};
}

base::Result<void> CudaPreprocessor::upload(std::span<const stream::PlannedFrame> frames) {
  std::size_t needed = 0;
  for (const auto& frame : frames) {
    RL_TRY(stream::check_planned(*frame.image, frame.geometry));
    needed += aligned(frame.image->bytes.size());
  }
  RL_TRY(reserve(needed));
  addresses_.clear();
  std::size_t at = 0;
  for (const auto& frame : frames) {
    const auto& bytes = frame.image->bytes;
    if (bytes.place() == stream::ImagePlace::device) {
      addresses_.push_back(address_of(bytes.data()));
      continue;
    }
    const void* from = bytes.data();
    if (bytes.place() == stream::ImagePlace::pageable) {
      auto* copy = static_cast<std::byte*>(staging_->data()) + at;
      std::memcpy(copy, bytes.data(), bytes.size());
      from = copy;
    }
    const auto to = frames_->address() + at;
    if (const auto status = gpu_.driver->copy_to_device_async(to, from, bytes.size(), stream_);
        status != gpu::kCudaSuccess)
      return tl::unexpected<base::Error>(gpu_.driver->error(status, "copying frames to the GPU"));
    addresses_.push_back(to);
    at += aligned(bytes.size());
  }
  return {};
}

base::Result<void> CudaPreprocessor::run(std::span<const stream::PlannedFrame> frames, void* input) {
  if (frames.empty()) return {};
  RL_TRY(upload(frames));
  kernel::Job job;
  job.input = plan_;
  job.input.width = frames.front().geometry.input_width;
  job.input.height = frames.front().geometry.input_height;
  const std::size_t values = static_cast<std::size_t>(plan_.channels) * static_cast<std::size_t>(job.input.width) *
                             static_cast<std::size_t>(job.input.height);
  const std::size_t frame_bytes = values * (plan_.type == kernel::kFloat32   ? 4
                                            : plan_.type == kernel::kFloat16 ? 2
                                                                             : 1);
  for (std::size_t begin = 0; begin < frames.size(); begin += kernel::kFramesPerLaunch) {
    const auto count = std::min<std::size_t>(kernel::kFramesPerLaunch, frames.size() - begin);
    job.input.out = address_of(input) + begin * frame_bytes;
    for (std::size_t i = 0; i < count; ++i) job.frames[i] = plan_of(frames[begin + i], addresses_[begin + i]);
    if (const auto status = kernel_->launch(stream_, job, static_cast<int>(count)); status != gpu::kCudaSuccess)
      return tl::unexpected<base::Error>(gpu_.driver->error(status, "preprocessing frames on the GPU"));
  }
  return {};
}

}  // namespace ridgeline::workload
