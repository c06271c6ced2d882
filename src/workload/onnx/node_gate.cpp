// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/node_gate.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "workload/onnx/graph_shapes.hpp"
#include "workload/onnx/node_attributes.hpp"

namespace ridgeline::workload {
namespace {

using onnx::TypeProto;

int rank_of(const TypeProto* type) {
  return type != nullptr && type->has_tensor_type() ? type->tensor_type().shape().dim_size() : -1;
}

/// Attributes that rules divide by.
GateResult check_divisors(const onnx::NodeProto& node) {
  for (const char* name : {"strides", "dilations", "kernel_shape", "stride", "blocksize", "group", "num_heads"}) {
    const auto* attribute = find_attribute(node, name);
    if (attribute == nullptr) continue;
    const auto& sizes = attribute->ints();
    if (std::any_of(sizes.begin(), sizes.end(), [](auto size) { return size < 1; }) ||
        (attribute->has_i() && attribute->i() < 1))
      return {Gate::refused, fmt::format("{} is not positive", name)};
  }
  return {};
}

/// Inputs must be of a kind that the operator takes, and tensors must have a rank.
GateResult check_input_types(const onnx::OpSchema& schema, const std::vector<const TypeProto*>& types) {
  const auto& formals = schema.inputs();
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == nullptr) {
      if (i < static_cast<std::size_t>(schema.min_input())) return {Gate::unknown, ""};
      continue;
    }
    if (types[i]->value_case() == TypeProto::VALUE_NOT_SET) return {Gate::unknown, ""};
    if (types[i]->has_tensor_type() && !types[i]->tensor_type().has_shape()) return {Gate::unknown, ""};
    if (formals.empty()) continue;
    const auto& allowed = formals[std::min(i, formals.size() - 1)].GetTypes();
    if (!allowed.empty() && allowed.count(onnx::Utils::DataTypeUtils::ToType(*types[i])) == 0)
      return {Gate::refused, fmt::format("input {} has a type that it does not take", i)};
  }
  return {};
}

/// Convolutions index the weights' dimensions by the data's rank.
GateResult check_ranks(const onnx::NodeProto& node, const std::string& rule,
                       const std::vector<const TypeProto*>& types) {
  static const std::map<std::string, std::size_t> kWeights = {
      {"Conv", 1}, {"ConvTranspose", 1}, {"ConvInteger", 1}, {"QLinearConv", 3}};
  const auto weight = kWeights.find(rule);
  if (weight == kWeights.end()) return {};
  const int rank = rank_of(types[0]);
  if (rank < 3 || rank_of(types[weight->second]) != rank) return {Gate::refused, "data and weights differ in rank"};
  for (const char* name : {"strides", "dilations", "kernel_shape", "output_padding", "output_shape"})
    if (const auto sizes = attribute_ints(node, name); sizes && static_cast<int>(sizes->size()) != rank - 2)
      return {Gate::refused, fmt::format("{} has {} sizes for {} spatial axes", name, sizes->size(), rank - 2)};
  return {};
}

/// Axes index the first input's dimensions, or those of the result where an operator adds some.
GateResult check_axes(const onnx::NodeProto& node, const std::vector<const TypeProto*>& types) {
  const int rank = types.empty() ? -1 : rank_of(types[0]);
  if (rank < 0) return {};
  // Their default axis, -1, needs a dimension.
  if (rank == 0 && (node.op_type() == "LayerNormalization" || node.op_type() == "TopK" || node.op_type() == "Split"))
    return {Gate::refused, "a scalar has no axis"};
  for (const char* name : {"axis", "batch_axis", "time_axis", "batch_dims", "axes", "perm"}) {
    const auto* attribute = find_attribute(node, name);
    if (attribute == nullptr) continue;
    std::vector<std::int64_t> axes(attribute->ints().begin(), attribute->ints().end());
    if (attribute->has_i()) axes.push_back(attribute->i());
    const auto& type = node.op_type();
    std::int64_t limit = std::max(rank, 1);
    if (type == "Unsqueeze") limit = rank + attribute->ints_size();
    if (type == "OneHot") limit = rank + 1;
    const std::int64_t above = type == "Flatten" ? 1 : 0;
    for (const auto axis : axes)
      if (axis < -limit || axis >= limit + above)
        return {Gate::refused, fmt::format("{} {} is outside a tensor of rank {}", name, axis, rank)};
  }
  return {};
}

/// A window that is larger than what it moves over; libonnx computes with the negative size.
GateResult check_windows(const onnx::NodeProto& node, const std::string& rule,
                         const std::vector<const TypeProto*>& types) {
  const auto padding = attribute_text(node, "auto_pad", "NOTSET");
  if ((padding != "NOTSET" && padding != "VALID") || rank_of(types[0]) < 3) return {};
  auto kernel = attribute_ints(node, "kernel_shape");
  const auto weights = types.size() > 1 ? concrete_dims(types[1]) : std::nullopt;
  if (!kernel && rule == "Conv" && weights && weights->size() > 2)
    kernel = std::vector<std::int64_t>(weights->begin() + 2, weights->end());
  if (!kernel) return {};
  const auto pads = attribute_ints(node, "pads");
  const auto dilations = attribute_ints(node, "dilations");
  const auto spatial = kernel->size();
  const auto& shape = types[0]->tensor_type().shape();
  for (std::size_t at = 0; at < spatial && static_cast<int>(at) + 2 < shape.dim_size(); ++at) {
    const auto& dim = shape.dim(static_cast<int>(at) + 2);
    if (!dim.has_dim_value()) continue;
    const auto padded =
        dim.dim_value() + (pads && pads->size() == 2 * spatial ? (*pads)[at] + (*pads)[at + spatial] : 0);
    const auto window = (dilations && at < dilations->size() ? (*dilations)[at] : 1) * ((*kernel)[at] - 1) + 1;
    if (window > padded)
      return {Gate::misfit, fmt::format("its window of {} is larger than its input of {}", window, padded)};
  }
  return {};
}

/// libonnx looks at the input alone; the first states have its batch.
GateResult check_states(const onnx::NodeProto& node, const std::vector<const TypeProto*>& types) {
  if (attribute_int(node, "layout", 0) != 0 || rank_of(types[0]) != 3) return {};
  const auto& batch = types[0]->tensor_type().shape().dim(1);
  for (std::size_t state = 5; state < std::min<std::size_t>(types.size(), 7); ++state) {
    if (rank_of(types[state]) != 3) continue;
    const auto& own = types[state]->tensor_type().shape().dim(1);
    if (batch.has_dim_value() && own.has_dim_value() && batch.dim_value() != own.dim_value())
      return {Gate::misfit,
              fmt::format("its input has a batch of {}, its state of {}", batch.dim_value(), own.dim_value())};
  }
  return {};
}

GateResult check_scan(const onnx::NodeProto& node, const std::vector<const TypeProto*>& types) {
  const auto* body = find_attribute(node, "body");
  const auto scanned = attribute_int(node, "num_scan_inputs", 0);
  if (body == nullptr || !body->has_g() || body->g().output_size() != node.output_size() || scanned < 1 ||
      scanned > node.input_size())
    return {Gate::refused, "its body and its inputs and outputs differ in number"};
  for (auto i = types.size() - static_cast<std::size_t>(scanned); i < types.size(); ++i)
    if (rank_of(types[i]) < 1) return {Gate::refused, "a scanned input has no dimensions"};
  return {};
}

}  // namespace

GateResult check_gate(const onnx::NodeProto& node, const std::string& rule, const onnx::OpSchema& schema,
                      const std::vector<const TypeProto*>& types) {
  if (node.input_size() < schema.min_input() || node.input_size() > schema.max_input() ||
      node.output_size() < schema.min_output() || node.output_size() > schema.max_output())
    return {Gate::refused, fmt::format("it has {} inputs and {} outputs", node.input_size(), node.output_size())};
  if (rule == "SequenceMap") return {Gate::unknown, ""};  // its rule reads the body's inputs without counting them
  if (auto result = check_divisors(node); result.gate != Gate::open) return result;
  if (auto result = check_input_types(schema, types); result.gate != Gate::open) return result;
  if (rule == "Scan" && schema.since_version() >= 9)
    if (auto result = check_scan(node, types); result.gate != Gate::open) return result;
  if (rule == "Conv" || rule == "MaxPool" || rule == "AveragePool")
    if (auto result = check_windows(node, rule, types); result.gate != Gate::open) return result;
  if (rule == "LSTM" || rule == "GRU" || rule == "RNN")
    if (auto result = check_states(node, types); result.gate != Gate::open) return result;
  if (auto result = check_axes(node, types); result.gate != Gate::open) return result;
  return check_ranks(node, rule, types);
}

}  // namespace ridgeline::workload
