// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/input_uses.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "workload/onnx/model_census.hpp"
#include "workload/onnx/node_attributes.hpp"

namespace ridgeline::workload {
namespace {

constexpr double kUsualRounds = 10;  // of a loop that nothing bounds

void collect_control_uses(const TypedNode& node, UseCollector& collector) {
  const auto& op = node.node.op_type();
  const auto& name = node_name(node.node);
  if (op == "Loop") {
    collector.want(node, 0, kUsualRounds, messages::input_rounds({.op = op, .name = name}), UseKind::count);
    collector.want_truth(node, 1, true, messages::input_goes_on({.op = op, .name = name}), UseKind::mask);
    return;
  }
  const auto* origin = strands_of(node, 0);
  if (origin == nullptr) return;
  for (const auto& strand : origin->strands) {
    const auto yes = strand.solve(true);
    const auto no = strand.solve(false);
    if (yes && no)
      collector.add(strand, {.kind = UseKind::condition,
                             .exact = *yes,
                             .otherwise = *no,
                             .reason = messages::branch({.first = true, .op = op, .name = name}),
                             .otherwise_reason = messages::branch({.first = false, .op = op, .name = name})});
  }
}

}  // namespace

const std::string& node_name(const onnx::NodeProto& node) {
  return !node.name().empty() || node.output_size() == 0 ? node.name() : node.output(0);
}

schema::Message argument_of(const onnx::NodeProto& node, messages::InputArgumentWhat what, std::int64_t values) {
  return messages::input_argument({.what = what, .values = values, .op = node.op_type(), .name = node_name(node)});
}

const Origin* strands_of(const TypedNode& node, std::size_t input) {
  if (input >= node.known.size()) return nullptr;
  const auto* origin = node.known[input].origin;
  return origin != nullptr && !origin->strands.empty() ? origin : nullptr;
}

std::optional<std::vector<std::int64_t>> dims_of(const TypedNode& node, std::size_t input) {
  return input < node.inputs.size() ? concrete_dims(node.inputs[input]) : std::nullopt;
}

std::optional<std::int64_t> size_of_axis(const TypedNode& node, std::size_t input, std::int64_t axis) {
  const auto dims = dims_of(node, input);
  if (!dims) return std::nullopt;
  if (axis < 0) axis += static_cast<std::int64_t>(dims->size());
  if (axis < 0 || axis >= static_cast<std::int64_t>(dims->size())) return std::nullopt;
  return (*dims)[static_cast<std::size_t>(axis)];
}

std::vector<std::optional<std::int64_t>> output_sizes(const TypedNode& node) {
  std::vector<std::optional<std::int64_t>> sizes;
  const auto* type = node.outputs.empty() ? nullptr : node.outputs[0];
  if (type == nullptr || !type->has_tensor_type()) return sizes;
  for (const auto& dim : type->tensor_type().shape().dim())
    sizes.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? std::optional(dim.dim_value()) : std::nullopt);
  return sizes;
}

void UseCollector::add(const Strand& strand, InputUse use) {
  use.input = strand.input;
  use.element = strand.element;
  uses_.push_back(std::move(use));
}

void UseCollector::bound(const TypedNode& node, std::size_t input, double low, double high,
                         const schema::Message& reason) {
  const auto* origin = strands_of(node, input);
  if (origin == nullptr) return;
  for (const auto& strand : origin->strands) {
    if (strand.test != Test::none || strand.scale == 0) continue;
    auto from = (low - strand.least_offset) / strand.scale;
    auto to = (high - strand.most_offset) / strand.scale;
    if (strand.scale < 0) std::swap(from, to);
    add(strand, {.kind = UseKind::index,
                 .low = std::ceil(std::max(from, strand.low)),
                 .high = std::floor(std::min(to, strand.high)),
                 .reason = reason});
  }
}

void UseCollector::want(const TypedNode& node, std::size_t input, const std::vector<std::optional<double>>& values,
                        const schema::Message& reason, UseKind kind) {
  const auto* origin = strands_of(node, input);
  if (origin == nullptr || values.empty()) return;
  const auto ask = [&](const Strand& strand, std::optional<double> value) {
    if (value && strand.test == Test::none && strand.scale != 0)
      add(strand, {.kind = kind, .exact = std::round((*value - strand.most_offset) / strand.scale), .reason = reason});
  };
  if (!origin->elements.empty() && (values.size() == origin->elements.size() || values.size() == 1)) {
    for (std::size_t at = 0; at < origin->elements.size(); ++at)
      if (origin->elements[at].strand) ask(*origin->elements[at].strand, values[values.size() == 1 ? 0 : at]);
    return;
  }
  for (const auto& strand : origin->strands) ask(strand, values.front());
}

void UseCollector::want_truth(const TypedNode& node, std::size_t input, bool wanted, const schema::Message& reason,
                              UseKind kind) {
  const auto* origin = strands_of(node, input);
  if (origin == nullptr) return;
  for (const auto& strand : origin->strands)
    if (const auto x = strand.solve(wanted)) add(strand, {.kind = kind, .exact = *x, .reason = reason});
}

std::vector<InputUse> collect_input_uses(const onnx::ModelProto& model, const schema::ShapeSet& shapes) {
  std::vector<InputUse> uses;
  UseCollector collector(uses);
  WalkOptions options;
  options.open_control = [&](const TypedNode& node) { collect_control_uses(node, collector); };
  infer_shapes(
      model, shapes,
      [&](const TypedNode& node) {
        bool reached = false;
        for (std::size_t i = 0; i < node.known.size(); ++i) reached = reached || strands_of(node, i) != nullptr;
        if (!reached) return;
        const auto name = operator_name(node.node);
        collect_index_uses(node, name, collector);
        collect_length_uses(node, name, collector);
        collect_mask_uses(node, name, collector);
        collect_divisor_uses(node, name, collector);
        collect_argument_uses(node, collector);
      },
      options);
  return uses;
}

}  // namespace ridgeline::workload
