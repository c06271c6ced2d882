// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "workload/onnx/ort_environment.hpp"
#include "workload/onnx/ort_values.hpp"
#include "workload/onnx/session_settings.hpp"

struct OrtSession;
struct OrtStatus;

namespace ridgeline::workload {

/// One session with inputs and output buffers of its own; used by one thread at a time.
class OrtLane {
 public:
  /// Loads the model into a session. Errors as classify_ort_error.
  [[nodiscard]] static base::Result<std::unique_ptr<OrtLane>> create(const OrtEnvironment& environment,
                                                                     const std::string& model_path,
                                                                     const SessionSettings& settings);
  ~OrtLane();
  OrtLane(const OrtLane&) = delete;
  OrtLane& operator=(const OrtLane&) = delete;

  [[nodiscard]] const std::vector<OrtPort>& inputs() const noexcept { return inputs_; }

  /// Adds one member of the shape mix; `tensors` are in the order of inputs().
  [[nodiscard]] base::Result<void> add_shape_set(const std::vector<Tensor>& tensors);

  /// One inference on the next member of the mix. The first run on a member lets the runtime allocate the outputs;
  /// from then on they are written into buffers of the shapes it chose. Values without a fixed size (text, sequences)
  /// are allocated by the runtime in every run.
  [[nodiscard]] bool step() noexcept;
  /// Why the last step failed.
  [[nodiscard]] base::Error last_error() const;

  /// Runs every member once and appends its outputs.
  [[nodiscard]] base::Result<void> collect_outputs(OutputSet& outputs);

 private:
  struct Member {
    std::vector<OrtValueHandle> input_handles;
    std::vector<const OrtValue*> inputs;
    std::vector<OrtValueHandle> output_handles;  // nullptr where the runtime allocates
    std::vector<OrtValue*> outputs;
    bool has_buffers = false;
    bool has_fresh = false;  // some outputs are allocated in every run
  };
  using SessionHandle = std::unique_ptr<OrtSession, void (*)(OrtSession*)>;
  using StatusHandle = std::unique_ptr<OrtStatus, void (*)(OrtStatus*)>;

  OrtLane(const OrtEnvironment& environment, const SessionSettings& settings, SessionHandle session);
  [[nodiscard]] base::Result<void> keep_buffers(Member& member);
  void release_fresh(Member& member) noexcept;

  const OrtEnvironment& environment_;
  const OrtApi& api_;
  const OrtRunOptions* run_options_;
  SessionHandle session_;
  std::vector<OrtPort> inputs_;
  std::vector<OrtPort> outputs_;
  std::vector<const char*> input_names_;
  std::vector<const char*> output_names_;
  std::vector<Member> members_;
  std::size_t next_ = 0;
  StatusHandle failure_;       // turned into text only when asked for
  base::Error setup_failure_;  // of keep_buffers
};

}  // namespace ridgeline::workload
