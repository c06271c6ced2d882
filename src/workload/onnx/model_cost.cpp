// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/model_cost.hpp"

#include <algorithm>
#include <set>

#include "workload/element_type.hpp"
#include "workload/messages.hpp"
#include "workload/onnx/flop_count.hpp"
#include "workload/onnx/known_values.hpp"
#include "workload/onnx/model_census.hpp"

namespace ridgeline::workload {
namespace {

double bytes_of(const onnx::TypeProto* type) {
  const auto dims = concrete_dims(type);
  if (!dims) return 0;
  double bits = element_bits(static_cast<ElementType>(type->tensor_type().elem_type()));
  for (const auto dim : *dims) bits *= static_cast<double>(dim);
  return bits / 8;
}

double bytes_of_inputs(const schema::ModelDescription& description, const schema::ShapeSet& shapes) {
  double total = 0;
  for (const auto& shape : shapes)
    for (const auto& input : description.inputs)
      if (input.name == shape.name) {
        double bits = element_bits(element_type_from_name(input.element_type).value_or(ElementType::string));
        for (const auto dim : shape.dims) bits *= static_cast<double>(dim);
        total += bits / 8;
      }
  return total;
}

/// The first operators with their counts, as arguments of a note.
template <typename Arguments>
Arguments list_counts(const std::map<std::string, std::int64_t>& counts) {
  constexpr std::size_t kShown = 8;
  Arguments out;
  for (const auto& [name, count] : counts)
    if (out.operators.size() < kShown)
      out.operators.push_back(messages::operator_count({.type = name, .count = count}));
  if (counts.size() > kShown) out.more = static_cast<std::int64_t>(counts.size() - kShown);
  return out;
}

/// Sums over the nodes of one pass.
class CostSum {
 public:
  CostSum(schema::ModelDescription& description, double weight, bool first)
      : description_(description), weight_(weight), first_(first) {
    for (const auto& output : description.outputs) outputs_.insert(output.name);
  }

  void add(const TypedNode& node) {
    const auto count = count_flops(node);
    const auto name = operator_name(node.node);
    const double flops = count.flops * node.repeats * weight_;
    if (count.knowledge != FlopKnowledge::counted) {
      if (first_) ++description_.uncounted_ops[name];
    } else if (flops > 0) {
      description_.flops += flops;
      description_.flops_by_op[name] += flops;
    }
    const bool view = is_view(node.node);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const double bytes = bytes_of(node.outputs[i]) * node.repeats * weight_;
      const bool leaves = outputs_.count(node.node.output(static_cast<int>(i))) != 0;
      if (leaves) description_.min_bytes += bytes;
      if (!leaves && !view && !node.folded) description_.min_bytes += 2 * bytes;
    }
  }

 private:
  schema::ModelDescription& description_;
  double weight_;
  bool first_;
  std::set<std::string> outputs_;
};

void note_gaps(const ShapeReport& report, schema::ModelDescription& description) {
  constexpr std::int64_t kNewestKnownOpset = 17;  // of libonnx 1.12
  auto& notes = description.notes;
  const auto opset = description.opsets.find("");
  if (opset != description.opsets.end() && opset->second > kNewestKnownOpset)
    notes.push_back(messages::newer_opset({.opset = opset->second, .newest = kNewestKnownOpset}));
  if (!report.unknown_operators.empty())
    notes.push_back(messages::no_shape_rule(list_counts<messages::NoShapeRule>(report.unknown_operators)));
  if (report.shapeless_nodes > 0)
    notes.push_back(messages::shapes_unknown({.unknown = report.shapeless_nodes, .nodes = description.nodes}));
  if (!description.uncounted_ops.empty())
    notes.push_back(
        messages::arithmetic_uncounted(list_counts<messages::ArithmeticUncounted>(description.uncounted_ops)));
  if (report.unknown_trip_count) notes.push_back(messages::loop_counted_once());
  if (report.unknown_branch) notes.push_back(messages::branches_by_half());
  for (const auto& contradiction : report.contradictions) notes.push_back(messages::shapes_contradict(contradiction));
}

}  // namespace

void estimate_cost(const onnx::ModelProto& model, schema::ModelDescription& description) {
  const double weight = 1.0 / static_cast<double>(std::max<std::size_t>(1, description.shapes.size()));
  description.min_bytes = static_cast<double>(description.parameter_bytes);
  for (std::size_t i = 0; i < description.shapes.size(); ++i) {
    description.min_bytes += bytes_of_inputs(description, description.shapes[i]) * weight;
    CostSum sum(description, weight, i == 0);
    WalkOptions options;
    if (i < description.input_values.size())
      options.values = known_values(description, description.shapes[i], description.input_values[i]);
    const auto report = infer_shapes(
        model, description.shapes[i], [&](const TypedNode& node) { sum.add(node); }, options);
    if (i == 0) note_gaps(report, description);
  }
}

}  // namespace ridgeline::workload
