// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/value_origin.hpp"

#include <cmath>

#include "workload/onnx/graph_shapes.hpp"
#include "workload/onnx/model_census.hpp"
#include "workload/onnx/origin_rules.hpp"

namespace ridgeline::workload {
namespace {

/// nullptr: the values become data.
const OriginRule* origin_rule_of(const std::string& type) {
  for (const auto* rules : {&calculating_origin_rules(), &moving_origin_rules()})
    if (const auto found = rules->find(type); found != rules->end()) return &found->second;
  return nullptr;
}

}  // namespace

bool Strand::truth(double x) const {
  const double number = value(x);
  bool holds = number != 0;
  if (test == Test::equal) holds = number == threshold;
  if (test == Test::less) holds = number < threshold;
  if (test == Test::greater) holds = number > threshold;
  return holds != inverted;
}

std::optional<double> Strand::solve(bool wanted) const {
  const double limit = scale == 0 ? 0 : std::floor((threshold - most_offset) / scale);
  for (const double x : {1.0, 0.0, limit, limit + 1, limit - 1, limit + 2})
    if (x >= low && x <= high && std::isfinite(x) && truth(x) == wanted) return x;
  return std::nullopt;
}

Origin origin_of_input(const std::string& name, const onnx::TypeProto& type) {
  Origin origin;
  // Of floating-point inputs short vectors alone can be arguments; the others are data.
  if (is_whole({&type, nullptr, nullptr})) origin.strands.push_back({.input = name});
  const auto dims = concrete_dims(&type);
  if (!dims || dims->size() > 1) return origin;
  const auto count = dims->empty() ? 1 : dims->front();
  if (count < 1 || count > static_cast<std::int64_t>(kMostElements)) return origin;
  origin.strands.clear();
  for (int at = 0; at < static_cast<int>(count); ++at) {
    Strand strand{.input = name, .element = at};
    origin.elements.push_back({std::nullopt, strand});
    origin.strands.push_back(std::move(strand));
  }
  return origin;
}

std::vector<Element> elements_of(const KnownInput& input) {
  std::vector<Element> elements;
  if (input.origin != nullptr && !input.origin->elements.empty()) return input.origin->elements;
  if (input.value != nullptr) {
    if (input.value->dims.size() > 1 || input.value->values.size() > kMostElements) return elements;
    for (const double value : input.value->values) elements.push_back({value, std::nullopt});
    return elements;
  }
  const auto dims = concrete_dims(input.type);
  if (!dims || dims->size() > 1) return elements;
  const auto count = dims->empty() ? 1 : dims->front();
  if (count >= 1 && count <= static_cast<std::int64_t>(kMostElements)) elements.resize(static_cast<std::size_t>(count));
  return elements;
}

std::vector<Origin> follow_origins(const onnx::NodeProto& node, const KnownInputs& inputs) {
  std::vector<Origin> outputs(static_cast<std::size_t>(node.output_size()));
  if (!normal_domain(node.domain()).empty() || outputs.empty()) return outputs;
  const auto* rule = origin_rule_of(node.op_type());
  if (rule == nullptr) return outputs;
  outputs[0] = (*rule)(node, inputs);
  if (node.op_type() != "Split") return outputs;
  for (auto& output : outputs) output = outputs[0];
  std::size_t next = 0;
  const auto elements = elements_of(known_at(inputs, 0));
  if (elements.size() == outputs.size() && !outputs[0].strands.empty())
    for (auto& output : outputs) {
      output.elements = {elements[next++]};
      output.strands.clear();
      if (output.elements[0].strand) output.strands.push_back(*output.elements[0].strand);
    }
  return outputs;
}

}  // namespace ridgeline::workload
