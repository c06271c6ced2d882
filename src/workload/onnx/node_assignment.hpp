// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "schema/execution_provider.hpp"
#include "workload/onnx/ort_library.hpp"

struct OrtSession;

namespace ridgeline::workload {

/// A node of the optimized graph and who runs it.
struct AssignedNode {
  std::string name;
  std::string op_type;
  std::string provider;
};

/// Nodes of a session made with SessionExtras::record_assignment that a CUDA graph of `provider` cannot hold: those
/// that others run. Errors: unsupported before ONNX Runtime 1.24.
[[nodiscard]] base::Result<std::vector<AssignedNode>> nodes_beside_graph(const OrtLibrary& library,
                                                                         const OrtSession* session,
                                                                         const schema::ExecutionProvider& provider);

/// "7 nodes run on the CPU: Shape \"/patch/Shape\", Gather \"/patch/Gather\" and 5 more"; `where`: "on the CPU".
[[nodiscard]] std::string nodes_text(const std::vector<AssignedNode>& nodes, std::string_view where);

}  // namespace ridgeline::workload
