// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "workload/onnx/node_attributes.hpp"
#include "workload/onnx/origin_rules.hpp"

namespace ridgeline::workload {
namespace {

using onnx::NodeProto;

constexpr std::size_t kMostStrands = 32;

Origin follow_concat(const NodeProto&, const KnownInputs& inputs) {
  Origin out;
  bool known = true;
  for (const auto& input : inputs) {
    add_strands(input, out);
    auto elements = elements_of(input);
    known = known && !elements.empty();
    out.elements.insert(out.elements.end(), elements.begin(), elements.end());
  }
  if (!known || out.elements.size() > kMostElements || out.strands.empty()) out.elements.clear();
  return out;
}

Origin follow_gather(const NodeProto& node, const KnownInputs& inputs) {
  auto out = moved(known_at(inputs, 0));
  const auto elements = elements_of(known_at(inputs, 0));
  const auto* indices = known_at(inputs, 1).value;
  if (out.strands.empty() || elements.empty() || indices == nullptr || indices->values.size() > kMostElements ||
      attribute_int(node, "axis", 0) > 0)
    return out;
  out.strands.clear();
  for (auto index : indices->integers()) {
    if (index < 0) index += static_cast<std::int64_t>(elements.size());
    if (index < 0 || index >= static_cast<std::int64_t>(elements.size())) return moved(known_at(inputs, 0));
    out.elements.push_back(elements[static_cast<std::size_t>(index)]);
    if (out.elements.back().strand) out.strands.push_back(*out.elements.back().strand);
  }
  return out;
}

/// Of a short vector, forwards.
Origin follow_slice(const NodeProto& node, const KnownInputs& inputs) {
  auto out = moved(known_at(inputs, 0));
  const auto elements = elements_of(known_at(inputs, 0));
  if (out.strands.empty() || elements.empty()) return out;
  const auto single = [&](const char* name, std::size_t index, std::int64_t otherwise) -> std::optional<std::int64_t> {
    if (const auto given = attribute_ints(node, name))
      return given->size() == 1 ? std::optional(given->front()) : std::nullopt;
    if (index >= inputs.size() || (known_at(inputs, index).type == nullptr && known_at(inputs, index).value == nullptr))
      return otherwise;
    const auto* value = inputs[index].value;
    if (value == nullptr || value->values.size() != 1) return std::nullopt;
    return value->integers().front();
  };
  const auto size = static_cast<std::int64_t>(elements.size());
  const auto from = single("starts", 1, 0);
  const auto to = single("ends", 2, size);
  if (!from || !to || single("steps", 4, 1) != 1) return out;
  const auto clamp = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
  out.strands.clear();
  for (auto one = clamp(*from); one < clamp(std::max(*to, -size)); ++one) {
    out.elements.push_back(elements[static_cast<std::size_t>(one)]);
    if (out.elements.back().strand) out.strands.push_back(*out.elements.back().strand);
  }
  return out;
}

Origin follow_union(const KnownInputs& inputs, std::size_t first) {
  Origin out;
  for (auto index = first; index < inputs.size(); ++index) add_strands(inputs[index], out);
  return out;
}

Origin follow_range(const KnownInputs& inputs) {
  Origin out;
  const auto starts_at = [&](double value) {
    const auto bounds = bounds_of(known_at(inputs, 0));
    return bounds && bounds->low == value;
  };
  out.counts = is_whole(known_at(inputs, 0)) && starts_at(0);
  return out;
}

}  // namespace

const KnownInput& known_at(const KnownInputs& inputs, std::size_t index) {
  static const KnownInput kNone;
  return index < inputs.size() ? inputs[index] : kNone;
}

bool has_strands(const KnownInput& input) { return input.origin != nullptr && !input.origin->strands.empty(); }

void add_strands(const KnownInput& from, Origin& to) {
  if (from.origin == nullptr) return;
  for (const auto& strand : from.origin->strands)
    if (to.strands.size() < kMostStrands) to.strands.push_back(strand);
}

Origin moved(const KnownInput& input) {
  Origin out;
  if (input.origin == nullptr) return out;
  out.strands = input.origin->strands;
  out.counts = input.origin->counts;
  return out;
}

Origin same_order(const KnownInput& input) {
  auto out = moved(input);
  if (has_strands(input)) out.elements = input.origin->elements;
  return out;
}

std::optional<ValueBounds> bounds_of(const KnownInput& input) {
  if (input.value == nullptr || input.value->values.empty()) return std::nullopt;
  const auto [low, high] = std::minmax_element(input.value->values.begin(), input.value->values.end());
  return ValueBounds{*low, *high};
}

bool is_whole(const KnownInput& input) {
  if (input.type == nullptr || !input.type->has_tensor_type()) return false;
  switch (input.type->tensor_type().elem_type()) {
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::DOUBLE:
    case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::BFLOAT16: return false;
    default: return true;
  }
}

const OriginRules& moving_origin_rules() {
  static const OriginRules rules = [] {
    OriginRules table = {
        {"Concat", follow_concat},
        {"Gather", follow_gather},
        {"Slice", follow_slice},
        {"Range", [](const NodeProto&, const KnownInputs& inputs) { return follow_range(inputs); }},
        {"Where", [](const NodeProto&, const KnownInputs& inputs) { return follow_union(inputs, 1); }},
    };
    for (const char* name : {"And", "Or", "Xor"})
      table.emplace(name, [](const NodeProto&, const KnownInputs& inputs) { return follow_union(inputs, 0); });
    for (const char* name : {"Identity", "Reshape", "Unsqueeze", "Squeeze", "Flatten", "Floor", "Ceil", "Round"})
      table.emplace(name, [](const NodeProto&, const KnownInputs& inputs) { return same_order(known_at(inputs, 0)); });
    for (const char* name : {"Transpose", "Expand", "Tile", "Pad", "GatherElements", "GatherND", "ReduceMax",
                             "ReduceMin", "Dropout", "Trilu", "Abs", "ScatterElements", "ScatterND", "Split"})
      table.emplace(name, [](const NodeProto&, const KnownInputs& inputs) { return moved(known_at(inputs, 0)); });
    return table;
  }();
  return rules;
}

}  // namespace ridgeline::workload
