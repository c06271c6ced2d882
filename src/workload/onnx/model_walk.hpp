// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::workload {

enum class TensorRole {
  initializer,  ///< weights of a graph or subgraph, sparse ones by their values
  constant,     ///< the value of a Constant node: some exporters keep all weights there
  attribute,    ///< any other tensor attribute
};

/// Called for what it is set for; every node and tensor of the file is visited once, those of subgraphs and local
/// functions included.
struct ModelVisitor {
  std::function<void(const onnx::NodeProto&)> node;
  std::function<void(const onnx::TensorProto&, TensorRole)> tensor;
};

void walk_model(const onnx::ModelProto& model, const ModelVisitor& visitor);

}  // namespace ridgeline::workload
