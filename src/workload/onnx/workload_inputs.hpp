// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/error.hpp"
#include "schema/workload_ref.hpp"
#include "workload/onnx/npy_file.hpp"
#include "workload/onnx/ort_values.hpp"

namespace ridgeline::workload {

/// The tensors of one shape-mix member, in the order of the session's inputs.
using InputTensors = std::vector<Tensor>;

struct WorkloadInputs {
  std::vector<InputTensors> members;
  double items_per_step = 1;  ///< the batch, mean over the members
};

/// Shapes from `workload` (inputs without one must declare fixed dimensions) with the batch axis set to `batch` unless
/// that is 0, filled from the seed as `workload.input_values` says, or from the .npy files. A file made for a smaller
/// batch is repeated along axis 0. Errors: invalid_argument (a missing or misfit shape, an unknown input, a batch for a
/// model without a dynamic batch axis, a file of another type or shape), unsupported (inputs that are no number
/// tensors), and those of read_npy.
[[nodiscard]] base::Result<WorkloadInputs> make_workload_inputs(const std::vector<OrtPort>& ports,
                                                                const schema::WorkloadRef& workload,
                                                                std::int64_t batch);

}  // namespace ridgeline::workload
