// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "workload/onnx/gpu_side.hpp"
#include "workload/onnx/ort_environment.hpp"
#include "workload/onnx/session_settings.hpp"
#include "workload/onnx/shape_runner.hpp"

namespace ridgeline::workload {

/// Where a caller's tensors are.
struct TensorPlacement {
  IoBinding binding = IoBinding::none;
  const GpuSide* gpu = nullptr;  ///< set unless binding is none
  bool copies = true;            ///< inputs start and outputs end in host memory
};

/// A session, or a share of one, with inputs and output buffers of its own; used by one thread at a time.
class OrtCaller {
 public:
  /// Loads the model into a session. `stream` is the one that the settings name, and dies with the caller. Errors as
  /// classify_ort_error.
  [[nodiscard]] static base::Result<std::unique_ptr<OrtCaller>> create(const OrtEnvironment& environment,
                                                                       const std::string& model_path,
                                                                       const SessionSettings& settings,
                                                                       TensorPlacement placement = {},
                                                                       std::optional<gpu::CudaStream> stream = {});
  /// One more on the same session, with another thread.
  [[nodiscard]] base::Result<std::unique_ptr<OrtCaller>> share() const;
  ~OrtCaller();
  OrtCaller(const OrtCaller&) = delete;
  OrtCaller& operator=(const OrtCaller&) = delete;

  [[nodiscard]] std::vector<OrtPort>& inputs() noexcept { return session_.inputs; }
  [[nodiscard]] const OrtSession* session() const noexcept { return handle_.get(); }

  /// Adds one member of the shape mix; `tensors` are in the order of inputs(). Its runs use the settings' run options,
  /// and its CUDA graph, where the configuration wants one, the number `graph_id` (SessionSettings::make_run_options).
  [[nodiscard]] base::Result<void> add_shape_set(std::vector<Tensor> tensors, const SessionSettings& settings,
                                                 int graph_id);

  /// Ends the profile of a session that writes one (SessionExtras::profile); the file.
  [[nodiscard]] base::Result<std::string> end_profile() const;
  /// Zero of that profile, on the clock of ONNX Runtime.
  [[nodiscard]] base::Result<std::int64_t> profile_start_ns() const;

  /// What the calling thread does with denormal numbers from here on. The runtime sets that for its own threads and, by
  /// the first session of a process, for the thread that makes it. Here every thread that runs a session is what it
  /// would be in a process of that session alone.
  void enter_float_mode() const noexcept;
  /// Whether a step has met denormal numbers, on the thread that made it.
  [[nodiscard]] bool has_met_denormals() const noexcept { return met_denormals_; }

  /// One inference on the next member of the mix.
  [[nodiscard]] bool step() noexcept;
  /// Why the last step failed.
  [[nodiscard]] base::Error last_error() const;

  /// The member of the mix that was run last.
  [[nodiscard]] std::size_t last_member() const noexcept { return last_; }

  /// Runs every member twice and appends its outputs: on the inputs it has, then on others of the same values in
  /// another order, so that a run that does not read its inputs again is caught.
  [[nodiscard]] base::Result<void> collect_outputs(OutputSet& outputs);

 private:
  using SessionHandle = std::shared_ptr<OrtSession>;
  struct Member {
    std::vector<Tensor> tensors;
    std::unique_ptr<ShapeRunner> runner;
  };

  OrtCaller(const OrtEnvironment& environment, SessionHandle session, TensorPlacement placement,
            std::optional<gpu::CudaStream> stream, bool denormals_are_zero);
  [[nodiscard]] base::Result<void> read_ports();

  TensorPlacement placement_;
  std::optional<gpu::CudaStream> stream_;  // outlives the session, which works on it
  SessionHandle handle_;
  SharedSession session_;
  std::vector<Member> members_;
  std::size_t next_ = 0;
  std::size_t last_ = 0;
  bool denormals_are_zero_;
  bool met_denormals_ = false;
};

}  // namespace ridgeline::workload
