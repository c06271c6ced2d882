// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "workload/onnx/ort_library.hpp"

struct OrtSession;

namespace ridgeline::workload {

/// A node of the optimized graph and who runs it.
struct AssignedNode {
  std::string name;
  std::string op_type;
  std::string provider;
};

/// Nodes of a session made with SessionExtras::record_assignment that no GPU provider has. Errors: unsupported before
/// ONNX Runtime 1.24.
[[nodiscard]] base::Result<std::vector<AssignedNode>> nodes_beside_gpu(const OrtLibrary& library,
                                                                       const OrtSession* session);

/// "7 nodes run on the CPU: Shape \"/patch/Shape\", Gather \"/patch/Gather\" and 5 more".
[[nodiscard]] std::string cpu_nodes_text(const std::vector<AssignedNode>& nodes);

}  // namespace ridgeline::workload
