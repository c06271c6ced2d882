// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::workload {

/// Where in a model the nodes of the graph stand that a runtime made of it, by their names there: a node that was kept
/// as it was called, a fused one under what its sources have in common, with their names joined ("/block/conv/Conv +
/// relu/Relu" is "/block/conv.Conv + relu.Relu"). Sources are found by tensors: all nodes of the model between the
/// fused one's inputs and outputs. A node that the runtime put in, as for a layout, stands where the node that feeds it
/// does. Nodes that cannot be told are not listed.
[[nodiscard]] std::map<std::string, std::string> node_sources(const onnx::GraphProto& model,
                                                              const onnx::GraphProto& optimized);

}  // namespace ridgeline::workload
