// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/flop_formulas.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/text.hpp"
#include "workload/onnx/node_attributes.hpp"

namespace ridgeline::workload {
namespace {

using Flops = std::optional<double>;
using Dims = std::vector<std::int64_t>;

double product(Dims::const_iterator begin, Dims::const_iterator end) {
  double result = 1;
  for (; begin != end; ++begin) result *= static_cast<double>(*begin);
  return result;
}

bool has_input(const TypedNode& node, std::size_t index) {
  return static_cast<int>(index) < node.node.input_size() && !node.node.input(static_cast<int>(index)).empty();
}

float attribute_float(const onnx::NodeProto& node, const char* name, float otherwise) {
  const auto* attribute = find_attribute(node, name);
  return attribute != nullptr && attribute->has_f() ? attribute->f() : otherwise;
}

}  // namespace

const onnx::TypeProto* type_at(const std::vector<const onnx::TypeProto*>& types, std::size_t index) {
  return index < types.size() ? types[index] : nullptr;
}

Flops elements_of(const onnx::TypeProto* type) {
  const auto dims = concrete_dims(type);
  if (!dims) return std::nullopt;
  return product(dims->begin(), dims->end());
}

Flops conv_flops(const TypedNode& node, std::size_t weight, std::size_t bias) {
  const auto outputs = elements_of(type_at(node.outputs, 0));
  const auto kernel = concrete_dims(type_at(node.inputs, weight));
  if (!outputs || !kernel || kernel->size() < 3) return std::nullopt;
  return *outputs * (2 * product(kernel->begin() + 1, kernel->end()) + (has_input(node, bias) ? 1 : 0));
}

Flops conv_transpose_flops(const TypedNode& node) {
  const auto inputs = elements_of(type_at(node.inputs, 0));
  const auto outputs = elements_of(type_at(node.outputs, 0));
  const auto kernel = concrete_dims(type_at(node.inputs, 1));
  if (!inputs || !outputs || !kernel || kernel->size() < 3) return std::nullopt;
  return *inputs * 2 * product(kernel->begin() + 1, kernel->end()) + (has_input(node, 2) ? *outputs : 0);
}

Flops matmul_flops(const TypedNode& node, std::size_t right) {
  const auto outputs = elements_of(type_at(node.outputs, 0));
  const auto left = concrete_dims(type_at(node.inputs, 0));
  if (!outputs || !left || left->empty() || !has_input(node, right)) return std::nullopt;
  return 2 * *outputs * static_cast<double>(left->back());
}

Flops gemm_flops(const TypedNode& node) {
  const auto outputs = elements_of(type_at(node.outputs, 0));
  const auto left = concrete_dims(type_at(node.inputs, 0));
  if (!outputs || !left || left->size() != 2) return std::nullopt;
  const auto depth = (*left)[attribute_int(node.node, "transA", 0) != 0 ? 0 : 1];
  double each = 2 * static_cast<double>(depth);
  if (has_input(node, 2)) each += attribute_float(node.node, "beta", 1) == 1.0F ? 1 : 2;
  if (attribute_float(node.node, "alpha", 1) != 1.0F) each += 1;
  return *outputs * each;
}

Flops einsum_flops(const TypedNode& node) {
  std::string equation(attribute_text(node.node, "equation", ""));
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const auto terms = base::split(equation.substr(0, equation.find("->")), ',');
  if (terms.size() != node.inputs.size()) return std::nullopt;
  std::map<char, double> sizes;
  Dims ellipsis;  // broadcast from the right
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto dims = concrete_dims(node.inputs[i]);
    if (!dims) return std::nullopt;
    const auto dots = terms[i].find("...");
    const auto letters = terms[i].size() - (dots == std::string::npos ? 0 : 3);
    if (dims->size() < letters || (dots == std::string::npos && dims->size() != letters)) return std::nullopt;
    const auto hidden = dims->size() - letters;
    const auto before = dots == std::string::npos ? letters : dots;
    for (std::size_t axis = 0; axis < dims->size(); ++axis) {
      if (axis >= before && axis < before + hidden) {
        const auto from_right = before + hidden - 1 - axis;
        if (ellipsis.size() <= from_right) ellipsis.resize(from_right + 1, 1);
        ellipsis[from_right] = std::max(ellipsis[from_right], (*dims)[axis]);
        continue;
      }
      const auto letter = terms[i][axis < before ? axis : axis - hidden + 3];
      auto& size = sizes[letter];
      size = std::max(size, static_cast<double>((*dims)[axis]));
    }
  }
  double total = product(ellipsis.begin(), ellipsis.end());
  for (const auto& [letter, size] : sizes) total *= size;
  if (terms.size() > 1) return total * static_cast<double>(terms.size());
  const auto arrow = equation.find("->");
  auto result = arrow == std::string::npos ? terms[0] : equation.substr(arrow + 2);
  auto operand = terms[0];
  std::sort(result.begin(), result.end());
  std::sort(operand.begin(), operand.end());
  return result == operand ? 0 : total;
}

Flops pool_flops(const TypedNode& node) {
  const auto outputs = elements_of(type_at(node.outputs, 0));
  const auto kernel = attribute_ints(node.node, "kernel_shape");
  if (!outputs || !kernel) return std::nullopt;
  return *outputs * product(kernel->begin(), kernel->end());
}

Flops recurrent_flops(const TypedNode& node) {
  const auto input = concrete_dims(type_at(node.inputs, 0));
  const auto weights = concrete_dims(type_at(node.inputs, 1));     // [directions, gates x hidden, input size]
  const auto recurrence = concrete_dims(type_at(node.inputs, 2));  // [directions, gates x hidden, hidden]
  if (!input || !weights || !recurrence || input->size() != 3 || weights->size() != 3 || recurrence->size() != 3)
    return std::nullopt;
  const auto& type = node.node.op_type();
  const double elementwise = type == "LSTM" ? 26 : type == "GRU" ? 20 : 3;
  const double steps =
      static_cast<double>((*input)[0]) * static_cast<double>((*input)[1]) * static_cast<double>((*weights)[0]);
  const double rows = static_cast<double>((*weights)[1]);
  const double hidden = static_cast<double>((*recurrence)[2]);
  return steps * (2 * rows * (static_cast<double>((*weights)[2]) + hidden) + elementwise * hidden);
}

Flops resize_flops(const TypedNode& node) {
  const auto mode = attribute_text(node.node, "mode", "nearest");
  if (mode == "nearest") return 0;
  const auto from = concrete_dims(type_at(node.inputs, 0));
  const auto to = concrete_dims(type_at(node.outputs, 0));
  if (!from || !to || from->size() != to->size()) return std::nullopt;
  int resized = 0;
  for (std::size_t axis = 0; axis < to->size(); ++axis) resized += (*from)[axis] != (*to)[axis] ? 1 : 0;
  const double outputs = product(to->begin(), to->end());
  if (resized == 0) return 0;
  return mode == "cubic" ? outputs * 2 * std::pow(4.0, resized) : outputs * 3 * (std::pow(2.0, resized) - 1);
}

Flops lrn_flops(const TypedNode& node) {
  const auto inputs = elements_of(type_at(node.inputs, 0));
  if (!inputs) return std::nullopt;
  return *inputs * (2 * static_cast<double>(attribute_int(node.node, "size", 1)) + 3);
}

Flops attention_flops(const TypedNode& node) {
  const auto query = concrete_dims(type_at(node.inputs, 0));
  const auto second = concrete_dims(type_at(node.inputs, 1));
  const auto heads = static_cast<double>(attribute_int(node.node, "num_heads", 0));
  if (!query || !second || query->size() != 3 || heads < 1) return std::nullopt;
  const double batch = static_cast<double>((*query)[0]);
  const double length = static_cast<double>((*query)[1]);
  const double width = static_cast<double>((*query)[2]);
  double hidden = width;
  double others = length;
  double projection = 0;
  if (node.node.op_type() == "Attention") {
    if (second->size() != 2) return std::nullopt;  // weights [I, 3H]
    hidden = static_cast<double>((*second)[1]) / 3;
    projection = 2 * batch * length * width * static_cast<double>((*second)[1]);
  } else {
    if (second->size() != 3) return std::nullopt;  // key [batch, T, ...]
    others = static_cast<double>((*second)[1]);
  }
  return projection + 4 * batch * length * others * hidden + 5 * heads * batch * length * others;
}

}  // namespace ridgeline::workload
