// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gpu/cuda_driver.hpp"
#include "workload/onnx/frame_groups.hpp"
#include "workload/onnx/gpu_side.hpp"
#include "workload/onnx/ort_environment.hpp"
#include "workload/onnx/ort_values.hpp"

struct OrtIoBinding;
struct OrtMemoryInfo;
struct OrtRunOptions;
struct OrtSession;

namespace ridgeline::workload {

/// A session whose tensors are bound in the memory of a GPU. What it refers to outlives its bindings.
struct BoundModel {
  const OrtEnvironment& environment;
  const OrtSession* session;
  const ImageInput& input;
  const std::optional<SizeInput>& sizes;
  const std::vector<OrtPort>& outputs;
  const GpuSide& gpu;
  MemoryPlace place = MemoryPlace::device;  ///< how the GPU's memory is named to the runtime
};

/// An output of a run: in GPU memory with `data` and `bytes`, or else in `value` alone, in host memory.
struct BoundOutput {
  OrtValueHandle value{nullptr, nullptr};
  std::optional<FixedShape> shape{};
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// The input of one shape in GPU memory, bound to a session, with what it makes of it. Outputs are allocated by the
/// runtime in each run, or fixed: at addresses that stay, as CUDA graphs need them. One thread at a time.
class SlotBinding {
 public:
  /// `group` is of that shape. Errors: out_of_memory.
  [[nodiscard]] static base::Result<std::unique_ptr<SlotBinding>> create(const BoundModel& model,
                                                                         const FrameGroup& group);
  SlotBinding(const SlotBinding&) = delete;
  SlotBinding& operator=(const SlotBinding&) = delete;

  /// Of the first frame in GPU memory; what pads a batch is 0 at first.
  [[nodiscard]] void* input() const noexcept { return input_->data(); }
  /// Queues one inference, or waits for it: as the session's settings have it.
  [[nodiscard]] base::Result<void> run(const OrtRunOptions* options);
  /// What the last run left, valid until the next one.
  [[nodiscard]] base::Result<std::span<const BoundOutput>> outputs();
  /// From now on outputs are where they have been allocated for good, with the shapes of the last run. False: one of
  /// them has no fixed size, and all stay the runtime's. Errors: out_of_memory.
  [[nodiscard]] base::Result<bool> fix_outputs();

 private:
  template <typename T>
  using Handle = std::unique_ptr<T, void (*)(T*)>;
  SlotBinding(const BoundModel& model, Handle<OrtIoBinding> binding, Handle<OrtMemoryInfo> on_gpu,
              Handle<OrtMemoryInfo> on_host)
      : model_(model), binding_(std::move(binding)), on_gpu_(std::move(on_gpu)), on_host_(std::move(on_host)) {}
  [[nodiscard]] base::Result<void> let_runtime_allocate();

  BoundModel model_;
  std::optional<gpu::DeviceBuffer> input_;
  OrtValueHandle value_{nullptr, nullptr};
  OrtValueHandle sizes_{nullptr, nullptr};
  std::vector<gpu::DeviceBuffer> fixed_;
  std::vector<BoundOutput> outputs_;
  bool is_fixed_ = false;
  Handle<OrtIoBinding> binding_;  // goes before what it refers to
  Handle<OrtMemoryInfo> on_gpu_;
  Handle<OrtMemoryInfo> on_host_;
};

}  // namespace ridgeline::workload
