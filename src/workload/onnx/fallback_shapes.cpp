// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/fallback_shapes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/text.hpp"
#include "workload/onnx/graph_shapes.hpp"
#include "workload/onnx/model_census.hpp"
#include "workload/onnx/node_attributes.hpp"

namespace ridgeline::workload {
namespace {

// Newer than opset 17, or functions of it without a rule of their own.
const std::set<std::string>& same_shape_operators() {
  static const std::set<std::string> names = {
      "Gelu",
      "Mish",
      "Swish",
      "GroupNormalization",
      "RMSNormalization",
      "RotaryEmbedding",
      "BitwiseNot",
      "MeanVarianceNormalization",
      "SimplifiedLayerNormalization",
      "LayerNormalization",
      "Celu",
      "Softmax",
      "LogSoftmax",
      "com.microsoft.Gelu",
      "com.microsoft.FastGelu",
      "com.microsoft.BiasGelu",
      "com.microsoft.QuickGelu",
      "com.microsoft.SkipLayerNormalization",
      "com.microsoft.SkipSimplifiedLayerNormalization",
      "com.microsoft.SimplifiedLayerNormalization",
      "com.microsoft.RotaryEmbedding",
      "com.microsoft.BiasSoftmax",
      "com.microsoft.MultiHeadAttention",
      "com.microsoft.GroupQueryAttention",
      "com.microsoft.QLinearSigmoid",
      "com.microsoft.QLinearLeakyRelu",
      "com.microsoft.GroupNorm",
      "com.microsoft.SkipGroupNorm",
  };
  return names;
}

/// libonnx infers only the rank of an Einsum; sizes follow from the letters of an explicit result without ellipsis.
std::optional<onnx::TypeProto> einsum_type(const onnx::NodeProto& node,
                                           const std::vector<const onnx::TypeProto*>& inputs) {
  std::string equation(attribute_text(node, "equation", ""));
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const auto arrow = equation.find("->");
  if (arrow == std::string::npos || equation.find('.') != std::string::npos) return std::nullopt;
  const auto terms = base::split(equation.substr(0, arrow), ',');
  if (terms.size() != inputs.size()) return std::nullopt;
  std::map<char, std::int64_t> sizes;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto dims = concrete_dims(inputs[i]);
    if (!dims || dims->size() != terms[i].size()) return std::nullopt;
    for (std::size_t axis = 0; axis < dims->size(); ++axis) {
      auto& size = sizes[terms[i][axis]];
      size = std::max(size, (*dims)[axis]);
    }
  }
  onnx::TypeProto type;
  type.mutable_tensor_type()->set_elem_type(inputs[0]->tensor_type().elem_type());
  auto* shape = type.mutable_tensor_type()->mutable_shape();
  for (const char letter : equation.substr(arrow + 2)) {
    const auto size = sizes.find(letter);
    if (size == sizes.end()) return std::nullopt;
    shape->add_dim()->set_dim_value(size->second);
  }
  return type;
}

}  // namespace

std::optional<onnx::TypeProto> fallback_type(const onnx::NodeProto& node,
                                             const std::vector<const onnx::TypeProto*>& inputs) {
  if (inputs.empty() || inputs[0] == nullptr || !inputs[0]->has_tensor_type()) return std::nullopt;
  const auto name = operator_name(node);
  if (same_shape_operators().count(name) != 0) return *inputs[0];
  if (name == "Einsum") return einsum_type(node, inputs);
  if (name == "com.microsoft.MatMulNBits" && inputs[0]->tensor_type().shape().dim_size() > 0) {
    auto type = *inputs[0];
    auto* shape = type.mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(shape->dim_size() - 1)->set_dim_value(attribute_int(node, "N", 0));
    return type;
  }
  return std::nullopt;
}

}  // namespace ridgeline::workload
