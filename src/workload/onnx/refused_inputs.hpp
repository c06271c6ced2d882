// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/error.hpp"
#include "schema/workload_ref.hpp"
#include "workload/onnx/ort_values.hpp"

namespace ridgeline::workload {

/// A run that failed inside the model (internal) is the fault of its inputs more often than ours: says what they were
/// and how others are given (refused_inputs). Every other error stays as it is. `member`: of the shape mix, that ran.
[[nodiscard]] base::Error name_refused_inputs(base::Error error, const schema::WorkloadRef& workload,
                                              const std::vector<OrtPort>& ports, std::size_t member);

}  // namespace ridgeline::workload
