// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "schema/model_description.hpp"
#include "workload/workload_registry.hpp"

namespace ridgeline::workload {

/// Reads an ONNX model without running it: inputs, operators, parameters, concrete shapes for every dynamic dimension
/// (the user's, else a stated guess), floating-point operations and least memory traffic for those shapes. Blocks for
/// the time it takes to read and hash the files. Meant for a worker process: it runs code of libonnx on the model.
/// With several shape sets, flops and min_bytes are means over the sets.
///
/// What is not understood (operators newer than libonnx, custom domains) is said in `notes` and `uncounted_ops`.
/// Errors: not_found and io (file, external data), invalid_argument (no ONNX model, a shape that does not fit it),
/// corrupt (truncated), unsupported (2 GiB and more in one protobuf).
[[nodiscard]] base::Result<schema::ModelDescription> inspect_onnx_model(const InspectRequest& request);

}  // namespace ridgeline::workload
