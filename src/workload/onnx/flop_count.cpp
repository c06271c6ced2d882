// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/flop_count.hpp"

#include <string>

#include "workload/onnx/model_census.hpp"

namespace ridgeline::workload {
namespace {

std::vector<schema::Operand> operands(const google::protobuf::RepeatedPtrField<std::string>& names,
                                      const std::vector<const onnx::TypeProto*>& types) {
  std::vector<schema::Operand> out;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto at = static_cast<int>(i);
    out.push_back({at < names.size() && !names[at].empty(), concrete_dims(types[i])});
  }
  return out;
}

schema::OperatorAttribute attribute_value(const onnx::AttributeProto& attribute) {
  if (attribute.has_f()) return static_cast<double>(attribute.f());
  if (attribute.has_s()) return attribute.s();
  if (attribute.ints_size() > 0) return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
  return attribute.i();
}

}  // namespace

bool is_view(const onnx::NodeProto& node) { return schema::is_view(operator_name(node)); }

FlopCount count_flops(const TypedNode& node) {
  if (node.folded) return {FlopKnowledge::counted, 0};
  const auto name = operator_name(node.node);
  schema::OperatorCall call{name, operands(node.node.input(), node.inputs), operands(node.node.output(), node.outputs)};
  auto& attributes = call.attributes.emplace();
  for (const auto& attribute : node.node.attribute()) attributes[attribute.name()] = attribute_value(attribute);
  return schema::count_flops(call);
}

}  // namespace ridgeline::workload
