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

onnx::TypeProto tensor_type(int element, const std::vector<std::int64_t>& dims) {
  onnx::TypeProto type;
  type.mutable_tensor_type()->set_elem_type(element);
  auto* shape = type.mutable_tensor_type()->mutable_shape();
  for (const auto dim : dims) shape->add_dim()->set_dim_value(dim);
  return type;
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
  std::vector<std::int64_t> dims;
  for (const char letter : equation.substr(arrow + 2)) {
    const auto size = sizes.find(letter);
    if (size == sizes.end()) return std::nullopt;
    dims.push_back(size->second);
  }
  return tensor_type(inputs[0]->tensor_type().elem_type(), dims);
}

/// MatMul's shape, of matrices that may be transposed, and Gemm's, which is the same without further axes.
std::optional<onnx::TypeProto> product_type(const onnx::NodeProto& node,
                                            const std::vector<const onnx::TypeProto*>& inputs) {
  const auto matrices = [&](std::size_t index, std::string_view batch_transposed, std::string_view transposed) {
    auto dims = index < inputs.size() ? concrete_dims(inputs[index]) : std::nullopt;
    if (!dims || dims->size() < 2) return std::optional<std::vector<std::int64_t>>();
    // The first axis is that of the rows, and comes after those of the batch.
    if (attribute_int(node, batch_transposed, 0) != 0) std::rotate(dims->begin(), dims->begin() + 1, dims->end() - 1);
    if (attribute_int(node, transposed, 0) != 0) std::swap(dims->back(), *(dims->end() - 2));
    return dims;
  };
  const auto a = matrices(0, "transBatchA", "transA");
  const auto b = matrices(1, "transBatchB", "transB");
  if (!a || !b) return std::nullopt;
  if (a->back() != *(b->end() - 2)) return std::nullopt;
  std::vector<std::int64_t> dims{b->back(), *(a->end() - 2)};  // from the last to the first
  for (std::size_t at = 3; at <= std::max(a->size(), b->size()); ++at) {
    const auto of_a = at <= a->size() ? *(a->end() - static_cast<std::ptrdiff_t>(at)) : 1;
    const auto of_b = at <= b->size() ? *(b->end() - static_cast<std::ptrdiff_t>(at)) : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1) return std::nullopt;
    dims.push_back(std::max(of_a, of_b));
  }
  return tensor_type(inputs[0]->tensor_type().elem_type(), {dims.rbegin(), dims.rend()});
}

}  // namespace

std::optional<onnx::TypeProto> fallback_type(const onnx::NodeProto& node,
                                             const std::vector<const onnx::TypeProto*>& inputs) {
  if (inputs.empty() || inputs[0] == nullptr || !inputs[0]->has_tensor_type()) return std::nullopt;
  const auto name = operator_name(node);
  if (same_shape_operators().count(name) != 0) return *inputs[0];
  if (name == "Einsum") return einsum_type(node, inputs);
  if (name == "com.microsoft.FusedMatMul" || name == "com.microsoft.FusedGemm") return product_type(node, inputs);
  if (name == "com.microsoft.MatMulNBits" && inputs[0]->tensor_type().shape().dim_size() > 0) {
    auto type = *inputs[0];
    auto* shape = type.mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(shape->dim_size() - 1)->set_dim_value(attribute_int(node, "N", 0));
    return type;
  }
  return std::nullopt;
}

}  // namespace ridgeline::workload
