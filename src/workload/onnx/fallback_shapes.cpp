// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/fallback_shapes.hpp"

#include <set>
#include <string>

#include "workload/onnx/model_census.hpp"
#include "workload/onnx/node_attributes.hpp"

namespace ridgeline::workload {
namespace {

// Newer than opset 17, or functions of it without a rule of their own.
const std::set<std::string>& same_shape_operators() {
  static const std::set<std::string> names = {
      "Gelu", "Mish", "Swish", "GroupNormalization", "RMSNormalization", "RotaryEmbedding", "BitwiseNot",
      "MeanVarianceNormalization", "SimplifiedLayerNormalization", "LayerNormalization", "Celu", "Softmax", "LogSoftmax",
      "com.microsoft.Gelu", "com.microsoft.FastGelu", "com.microsoft.BiasGelu", "com.microsoft.QuickGelu",
      "com.microsoft.SkipLayerNormalization", "com.microsoft.SkipSimplifiedLayerNormalization",
      "com.microsoft.SimplifiedLayerNormalization", "com.microsoft.RotaryEmbedding", "com.microsoft.BiasSoftmax",
      "com.microsoft.MultiHeadAttention", "com.microsoft.GroupQueryAttention", "com.microsoft.QLinearSigmoid",
      "com.microsoft.QLinearLeakyRelu", "com.microsoft.GroupNorm", "com.microsoft.SkipGroupNorm",
  };
  return names;
}

}  // namespace

std::optional<onnx::TypeProto> fallback_type(const onnx::NodeProto& node, const std::vector<const onnx::TypeProto*>& inputs) {
  if (inputs.empty() || inputs[0] == nullptr || !inputs[0]->has_tensor_type()) return std::nullopt;
  const auto name = operator_name(node);
  if (same_shape_operators().count(name) != 0) return *inputs[0];
  if (name == "com.microsoft.MatMulNBits" && inputs[0]->tensor_type().shape().dim_size() > 0) {
    auto type = *inputs[0];
    auto* shape = type.mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(shape->dim_size() - 1)->set_dim_value(attribute_int(node, "N", 0));
    return type;
  }
  return std::nullopt;
}

}  // namespace ridgeline::workload
