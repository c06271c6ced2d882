// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/constant_folder.hpp"

#include <algorithm>
#include <cmath>

#include "workload/onnx/fold_rules.hpp"
#include "workload/onnx/graph_shapes.hpp"
#include "workload/onnx/node_attributes.hpp"

namespace ridgeline::workload {
namespace {

using onnx::TensorProto;
using Dims = std::vector<std::int64_t>;
using Folded = std::optional<SmallTensor>;

SmallTensor integers(const Dims& values) {
  return {TensorProto::INT64, {static_cast<std::int64_t>(values.size())}, {values.begin(), values.end()}};
}

Folded fold_constant(const onnx::NodeProto& node) {
  for (const auto& attribute : node.attribute()) {
    const auto& name = attribute.name();
    if (name == "value" && attribute.has_t()) return read_small_tensor(attribute.t());
    if (name == "value_int") return SmallTensor{TensorProto::INT64, {}, {static_cast<double>(attribute.i())}};
    if (name == "value_float") return SmallTensor{TensorProto::FLOAT, {}, {static_cast<double>(attribute.f())}};
    if (name == "value_ints" && small_count({attribute.ints_size()}))
      return integers({attribute.ints().begin(), attribute.ints().end()});
    if (name == "value_floats" && small_count({attribute.floats_size()}))
      return SmallTensor{
          TensorProto::FLOAT, {attribute.floats_size()}, {attribute.floats().begin(), attribute.floats().end()}};
  }
  return std::nullopt;
}

Folded fold_shape(const onnx::NodeProto& node, const FoldInputs& inputs) {
  if (inputs.empty()) return std::nullopt;
  const auto dims = concrete_dims(inputs[0].type);
  if (!dims) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(dims->size());
  const auto clamp = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const auto start = clamp(std::max(attribute_int(node, "start", 0), -rank));
  const auto end = std::max(start, clamp(std::max(attribute_int(node, "end", rank), -rank)));
  return integers({dims->begin() + start, dims->begin() + end});
}

Folded fold_size(const onnx::NodeProto&, const FoldInputs& inputs) {
  const auto dims = inputs.empty() ? std::nullopt : concrete_dims(inputs[0].type);
  if (!dims) return std::nullopt;
  double count = 1;
  for (const auto dim : *dims) count *= static_cast<double>(dim);
  return SmallTensor{TensorProto::INT64, {}, {count}};
}

Folded fold_cast(const onnx::NodeProto& node, const FoldInputs& inputs) {
  const auto* data = value_at(inputs, 0);
  const auto to = attribute_int(node, "to", 0);
  if (data == nullptr) return std::nullopt;
  SmallTensor result{static_cast<int>(to), data->dims, data->values};
  if (to == TensorProto::BOOL) {
    for (auto& value : result.values) value = value != 0 ? 1 : 0;
  } else if (to == TensorProto::INT64 || to == TensorProto::INT32) {
    for (auto& value : result.values) value = std::trunc(value);
  } else if (to != TensorProto::FLOAT && to != TensorProto::DOUBLE) {
    return std::nullopt;
  }
  return result;
}

Folded fold_constant_of_shape(const onnx::NodeProto& node, const FoldInputs& inputs) {
  const auto* shape = value_at(inputs, 0);
  if (shape == nullptr) return std::nullopt;
  const auto dims = shape->integers();
  const auto count = small_count(dims);
  if (!count) return std::nullopt;
  SmallTensor fill{TensorProto::FLOAT, {1}, {0.0}};
  if (const auto* attribute = find_attribute(node, "value"); attribute != nullptr) {
    const auto given = read_small_tensor(attribute->t());
    if (!given || given->values.size() != 1) return std::nullopt;
    fill = *given;
  }
  return SmallTensor{fill.type, dims, std::vector<double>(*count, fill.values[0])};
}

Folded fold_range(const onnx::NodeProto&, const FoldInputs& inputs) {
  const auto* start = value_at(inputs, 0);
  const auto* limit = value_at(inputs, 1);
  const auto* delta = value_at(inputs, 2);
  for (const auto* one : {start, limit, delta})
    if (one == nullptr || one->values.size() != 1) return std::nullopt;
  if (delta->values[0] == 0) return std::nullopt;
  const double count = std::max(0.0, std::ceil((limit->values[0] - start->values[0]) / delta->values[0]));
  if (!(count <= static_cast<double>(kMostSmallElements))) return std::nullopt;
  SmallTensor result{start->type, {static_cast<std::int64_t>(count)}, {}};
  for (double i = 0; i < count; ++i) result.values.push_back(start->values[0] + i * delta->values[0]);
  return result;
}

Folded fold_identity(const onnx::NodeProto&, const FoldInputs& inputs) {
  const auto* data = value_at(inputs, 0);
  return data != nullptr ? Folded(*data) : std::nullopt;
}

/// Of what is known of the inputs' types, and of single values.
const FoldRules& source_fold_rules() {
  static const FoldRules rules = {
      {"Shape", fold_shape}, {"Size", fold_size},         {"Cast", fold_cast},
      {"Range", fold_range}, {"Identity", fold_identity}, {"ConstantOfShape", fold_constant_of_shape},
  };
  return rules;
}

}  // namespace

std::optional<SmallTensor> fold_node(const onnx::NodeProto& node, const std::vector<FoldInput>& inputs) {
  if (node.output_size() != 1) return std::nullopt;
  if (node.op_type() == "Constant") return fold_constant(node);
  for (const auto* rules : {&source_fold_rules(), &layout_fold_rules(), &calculating_fold_rules()})
    if (const auto rule = rules->find(node.op_type()); rule != rules->end()) return rule->second(node, inputs);
  return std::nullopt;
}

}  // namespace ridgeline::workload
