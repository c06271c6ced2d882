// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/cuda_driver.hpp"
#include "workload/onnx/shape_runner.hpp"

struct OrtMemoryInfo;
struct OrtStatus;

namespace ridgeline::workload {

/// Tensors in host memory, handed to Run. The first run lets the runtime allocate the outputs; from then on they are
/// written into buffers of the shapes it chose. Values without a fixed size (text, sequences) are allocated by the
/// runtime in every run.
class HostMember final : public ShapeRunner {
 public:
  /// `tensors` are in the order of the session's inputs. With `pinned_by` set, tensors are in page-locked memory.
  [[nodiscard]] static base::Result<std::unique_ptr<ShapeRunner>> create(
      const SharedSession& session, const std::vector<Tensor>& tensors, SessionSettings::RunHandle options,
      std::shared_ptr<const gpu::CudaDriver> pinned_by);
  ~HostMember() override;
  HostMember(const HostMember&) = delete;
  HostMember& operator=(const HostMember&) = delete;

  [[nodiscard]] bool run() noexcept override;
  [[nodiscard]] base::Error last_error() const override;
  [[nodiscard]] base::Result<void> write_inputs(const std::vector<Tensor>& tensors) override;
  [[nodiscard]] base::Result<void> collect(OutputSet& outputs) override;

 private:
  using StatusHandle = std::unique_ptr<OrtStatus, void (*)(OrtStatus*)>;
  HostMember(const SharedSession& session, SessionSettings::RunHandle options,
             std::shared_ptr<const gpu::CudaDriver> pinned_by);
  [[nodiscard]] base::Result<OrtValueHandle> allocate(ElementType type, const std::vector<std::int64_t>& dims);
  [[nodiscard]] base::Result<void> keep_buffers();
  /// Of outputs whose size is not declared: from run to run it may be another, as where it is drawn at random. Whether
  /// there were any.
  bool give_up_buffers() noexcept;
  void release_fresh() noexcept;

  const SharedSession& session_;
  const OrtApi& api_;
  SessionSettings::RunHandle options_;
  std::shared_ptr<const gpu::CudaDriver> pinned_by_;
  std::vector<gpu::PinnedBuffer> pinned_;  // outlive the values that point into them
  std::vector<OrtValueHandle> inputs_;
  std::vector<const OrtValue*> input_pointers_;
  std::vector<OrtValueHandle> output_buffers_;  // nullptr where the runtime allocates
  std::vector<OrtValue*> output_pointers_;
  bool has_buffers_ = false;
  bool has_fresh_ = false;     // some outputs are allocated in every run
  StatusHandle failure_;       // turned into text only when asked for
  base::Error setup_failure_;  // of keep_buffers
};

}  // namespace ridgeline::workload
