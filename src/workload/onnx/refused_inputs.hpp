// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/error.hpp"
#include "schema/workload_ref.hpp"
#include "workload/onnx/ort_values.hpp"

namespace ridgeline::workload {

/// A run that failed inside the model (internal) is the fault of its inputs more often than ours: says what they were
/// and how others are given (invalid_argument). Every other error stays as it is.
[[nodiscard]] base::Error name_refused_inputs(base::Error error, const schema::WorkloadRef& workload,
                                              const std::vector<OrtPort>& ports);

}  // namespace ridgeline::workload
