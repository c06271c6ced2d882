// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "workload/onnx/ort_search.hpp"
#include "workload/stream_model.hpp"

namespace ridgeline::workload {

/// An ONNX model in ONNX Runtime: a session for each worker, which prepares frames, runs them and decodes the outputs
/// on its own thread. Errors: as make_ort_workload; invalid_argument for inputs that are no picture, for settings out
/// of range, and for a decoder that does not read the model's outputs.
[[nodiscard]] base::Result<std::unique_ptr<StreamModel>> make_ort_stream_model(const StreamModelRequest& request,
                                                                               const OrtSearchEnvironment& search);

}  // namespace ridgeline::workload
