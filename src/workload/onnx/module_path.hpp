// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::workload {

/// Where in the program a node of a model stands, with its own name last: "/encoder/layers.0/fc1/MatMul". A name that
/// is a path (PyTorch's TorchScript exporter, TensorFlow) is it; otherwise the modules come from the node's
/// metadata_props, which PyTorch's newer exporter writes ("pkg.torch.onnx.name_scopes", or "namespace"). The name alone
/// where neither says.
[[nodiscard]] std::string module_path(const onnx::NodeProto& node);

/// The parts of a path between its slashes.
[[nodiscard]] std::vector<std::string> path_parts(const std::string& path);

/// The path of a node that is made of several: the modules that all have in common, and below them their names joined,
/// "/block/conv.Conv + relu.Relu". Paths that have no module in common stand in the module of the `main` one. `paths`
/// is not empty.
[[nodiscard]] std::string joint_path(const std::vector<std::string>& paths, std::size_t main);

}  // namespace ridgeline::workload
