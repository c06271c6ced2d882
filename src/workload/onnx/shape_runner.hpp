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

namespace ridgeline::workload {

/// A session and what its members need of it. The names point into the ports.
struct SharedSession {
  const OrtEnvironment& environment;
  OrtSession* session = nullptr;
  std::vector<OrtPort> inputs;
  std::vector<OrtPort> outputs;
  std::vector<const char*> input_names;
  std::vector<const char*> output_names;
};

/// One member of a shape mix on one session, with its tensors where the configuration wants them. Used by one thread at
/// a time.
class ShapeRunner {
 public:
  virtual ~ShapeRunner() = default;
  /// One inference, with every copy that the scenario counts. False when it failed: see last_error.
  [[nodiscard]] virtual bool run() noexcept = 0;
  [[nodiscard]] virtual base::Error last_error() const = 0;
  /// Replaces the inputs' contents where they are; `tensors` have the types and shapes of the present ones.
  [[nodiscard]] virtual base::Result<void> write_inputs(const std::vector<Tensor>& tensors) = 0;
  /// One inference whose outputs are appended.
  [[nodiscard]] virtual base::Result<void> collect(OutputSet& outputs) = 0;
};

}  // namespace ridgeline::workload
