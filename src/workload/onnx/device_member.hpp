// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workload/onnx/gpu_side.hpp"
#include "workload/onnx/shape_runner.hpp"

struct OrtIoBinding;
struct OrtStatus;

namespace ridgeline::workload {

/// Tensors in GPU memory, bound to the session at addresses that stay. The first run, never part of a CUDA graph, lets
/// the runtime allocate the outputs; from then on they are written into buffers of the shapes it chose. Values without
/// a fixed size go to host memory of the runtime's.
class DeviceMember final : public ShapeRunner {
 public:
  struct Setup {
    const GpuSide& gpu;
    gpu::CudaStreamHandle stream = nullptr;  ///< the session's, when copies are to be queued on it
    bool copies = true;                      ///< inputs come from host memory and outputs go there in every run
  };
  /// `first_options` are for the first run: those of later ones would capture a graph that writes to addresses which
  /// nobody reads afterwards.
  [[nodiscard]] static base::Result<std::unique_ptr<ShapeRunner>> create(const SharedSession& session,
                                                                         const Setup& setup,
                                                                         const std::vector<Tensor>& tensors,
                                                                         SessionSettings::RunHandle first_options,
                                                                         SessionSettings::RunHandle options);
  DeviceMember(const DeviceMember&) = delete;
  DeviceMember& operator=(const DeviceMember&) = delete;
  ~DeviceMember() override = default;

  [[nodiscard]] bool run() noexcept override;
  [[nodiscard]] base::Error last_error() const override;
  [[nodiscard]] base::Result<void> write_inputs(const std::vector<Tensor>& tensors) override;
  [[nodiscard]] base::Result<void> collect(OutputSet& outputs) override;

 private:
  /// A tensor on the GPU with its page-locked counterpart; `value` alone when it is in host memory.
  struct Slot {
    ElementType type = ElementType::float32;
    std::vector<std::int64_t> dims;
    std::optional<gpu::DeviceBuffer> device;
    std::optional<gpu::PinnedBuffer> host;
    OrtValueHandle value;
  };
  using StatusHandle = std::unique_ptr<OrtStatus, void (*)(OrtStatus*)>;
  using BindingHandle = std::unique_ptr<OrtIoBinding, void (*)(OrtIoBinding*)>;

  DeviceMember(const SharedSession& session, const Setup& setup, SessionSettings::RunHandle first_options,
               SessionSettings::RunHandle options, BindingHandle binding);
  [[nodiscard]] base::Result<Slot> allocate(ElementType type, const std::vector<std::int64_t>& dims);
  [[nodiscard]] base::Result<void> bind_inputs(const std::vector<Tensor>& tensors);
  [[nodiscard]] base::Result<void> let_runtime_allocate();
  [[nodiscard]] base::Result<void> keep_buffers();
  [[nodiscard]] bool upload() noexcept;
  [[nodiscard]] bool download() noexcept;
  [[nodiscard]] bool cuda_ok(gpu::CudaStatus status, const char* doing) noexcept;

  const SharedSession& session_;
  const OrtApi& api_;
  Setup setup_;
  const gpu::CudaDriver& cuda_;
  SessionSettings::RunHandle first_options_;
  SessionSettings::RunHandle options_;
  std::vector<Slot> inputs_;
  std::vector<Slot> outputs_;
  BindingHandle binding_;  // goes before what it refers to
  bool has_buffers_ = false;
  StatusHandle failure_;  // turned into text only when asked for
  gpu::CudaStatus cuda_failure_ = gpu::kCudaSuccess;
  const char* cuda_doing_ = "";
  base::Error setup_failure_;
};

}  // namespace ridgeline::workload
