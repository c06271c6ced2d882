// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/model_census.hpp"

#include <algorithm>
#include <map>

#include "workload/element_type.hpp"
#include "workload/messages.hpp"
#include "workload/onnx/model_walk.hpp"
#include "workload/onnx/node_attributes.hpp"
#include "workload/onnx/random_nodes.hpp"

namespace ridgeline::workload {
namespace {

std::string type_text(const onnx::TypeProto& type, int depth = 0) {
  if (depth > 8) return "unknown";  // nested containers deeper than any operator makes
  const auto element = [](int number) { return std::string(element_type_name(static_cast<ElementType>(number))); };
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType: return element(type.tensor_type().elem_type());
    case onnx::TypeProto::kSparseTensorType: return "sparse(" + element(type.sparse_tensor_type().elem_type()) + ")";
    case onnx::TypeProto::kSequenceType:
      return "sequence(" + type_text(type.sequence_type().elem_type(), depth + 1) + ")";
    case onnx::TypeProto::kOptionalType:
      return "optional(" + type_text(type.optional_type().elem_type(), depth + 1) + ")";
    case onnx::TypeProto::kMapType:
      return "map(" + element(type.map_type().key_type()) + "," + type_text(type.map_type().value_type(), depth + 1) +
             ")";
    default: return "unknown";
  }
}

schema::TensorDescription describe(const onnx::ValueInfoProto& value) {
  schema::TensorDescription description;
  description.name = value.name();
  description.element_type = type_text(value.type());
  if (!value.type().has_tensor_type()) return description;
  for (const auto& dim : value.type().tensor_type().shape().dim()) {
    const bool fixed = dim.has_dim_value() && dim.dim_value() >= 0;  // old exporters write -1 for "dynamic"
    description.dims.push_back(fixed ? dim.dim_value() : -1);
    description.dim_names.push_back(fixed ? "" : dim.dim_param());
  }
  return description;
}

std::set<std::string> initializer_names(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) names.insert(sparse.values().name());
  return names;
}

/// By its kernel_shape, which may be left out, else by its weight: [out, in, length].
bool is_one_dimensional_convolution(const onnx::NodeProto& node, const std::map<std::string, int>& weight_ranks) {
  const auto& type = node.op_type();
  if (type != "Conv" && type != "ConvTranspose" && type != "FusedConv") return false;
  if (const auto kernel = attribute_ints(node, "kernel_shape")) return kernel->size() == 1;
  const auto weight = node.input_size() > 1 ? weight_ranks.find(node.input(1)) : weight_ranks.end();
  return weight != weight_ranks.end() && weight->second == 3;
}

void count_parameter(const onnx::TensorProto& tensor, schema::ModelDescription& description) {
  const std::vector<std::int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  const auto type = static_cast<ElementType>(tensor.data_type());
  const auto count = element_count(dims);
  auto bytes = tensor_bytes(type, dims).value_or(-1);
  if (element_bits(type) == 0) {  // strings, and types newer than we know: what the file holds of them
    bytes = static_cast<std::int64_t>(tensor.raw_data().size());
    for (const auto& text : tensor.string_data()) bytes += static_cast<std::int64_t>(text.size());
  }
  // More than any memory holds: the file is damaged, and adding such numbers up would overflow.
  constexpr std::int64_t kImpossible = std::int64_t{1} << 50;
  if (!count || bytes < 0 || *count > kImpossible || bytes > kImpossible) {
    description.notes.push_back(messages::impossible_tensor({.tensor = tensor.name(), .shape = shape_text(dims)}));
    return;
  }
  description.parameters += *count;
  description.parameter_bytes += bytes;
  description.parameter_types[std::string(element_type_name(type))] += *count;
}

}  // namespace

std::string normal_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

std::string operator_name(const onnx::NodeProto& node) {
  const auto domain = normal_domain(node.domain());
  return domain.empty() ? node.op_type() : domain + "." + node.op_type();
}

std::set<std::string> unranked_inputs(const onnx::ModelProto& model) {
  std::set<std::string> names;
  for (const auto& input : model.graph().input())
    if (input.type().has_tensor_type() && !input.type().tensor_type().has_shape()) names.insert(input.name());
  return names;
}

void take_census(const onnx::ModelProto& model, schema::ModelDescription& description) {
  description.producer = model.producer_name();
  if (!model.producer_version().empty())
    description.producer += (description.producer.empty() ? "" : " ") + model.producer_version();
  description.ir_version = model.ir_version();
  for (const auto& opset : model.opset_import()) {
    auto& version = description.opsets[normal_domain(opset.domain())];
    version = std::max<std::int64_t>(version, opset.version());
  }
  const auto& graph = model.graph();
  const auto initializers = initializer_names(graph);
  for (const auto& input : graph.input())
    if (initializers.count(input.name()) == 0) description.inputs.push_back(describe(input));
  for (const auto& output : graph.output()) description.outputs.push_back(describe(output));

  std::map<std::string, int> weight_ranks;
  for (const auto& tensor : graph.initializer()) weight_ranks[tensor.name()] = tensor.dims_size();
  ModelVisitor visitor;
  visitor.node = [&](const onnx::NodeProto& node) {
    ++description.nodes;
    ++description.node_counts[operator_name(node)];
    const auto& type = node.op_type();
    if (normal_domain(node.domain()).empty() && (type == "If" || type == "Loop" || type == "Scan"))
      description.has_control_flow = true;
    if (is_one_dimensional_convolution(node, weight_ranks)) ++description.one_dimensional_convolutions;
  };
  visitor.tensor = [&](const onnx::TensorProto& tensor, TensorRole role) {
    if (role != TensorRole::attribute) count_parameter(tensor, description);
  };
  walk_model(model, visitor);
  description.random_nodes = random_nodes(model);
}

}  // namespace ridgeline::workload
