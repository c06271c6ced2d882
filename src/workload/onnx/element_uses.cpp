// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "workload/onnx/input_uses.hpp"
#include "workload/onnx/node_attributes.hpp"

namespace ridgeline::workload {
namespace {

constexpr double kHides = 1e3;  // an additive mask subtracts at least so much

/// The size of an axis that a tensor counts along, 0 1 2 ...; nullopt: it does not.
std::optional<double> counted_size(const KnownInput& input) {
  if (input.value != nullptr && input.value->is_integral() && input.value->values.size() > 1) {
    const auto& values = input.value->values;
    for (std::size_t at = 0; at < values.size(); ++at)
      if (values[at] != static_cast<double>(at)) return std::nullopt;
    return static_cast<double>(values.size());
  }
  if (input.origin == nullptr || !input.origin->counts) return std::nullopt;
  const auto dims = concrete_dims(input.type);
  if (!dims || dims->empty()) return std::nullopt;
  return static_cast<double>(*std::max_element(dims->begin(), dims->end()));
}

bool is_constant(const TypedNode& node, std::size_t input) {
  return input < node.known.size() && node.known[input].value != nullptr;
}

double least_of(const TypedNode& node, std::size_t input) {
  const auto& values = node.known[input].value->values;
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

/// Which truth of a Where's condition hides nothing: a constant in the place of data is what hides them.
bool shows_when(const TypedNode& node) {
  const bool yes = is_constant(node, 1);
  const bool no = is_constant(node, 2);
  if (yes && no) return !(least_of(node, 1) <= -kHides && least_of(node, 1) < least_of(node, 2));
  return !yes;
}

bool divides_integers(const TypedNode& node) {
  if (node.inputs.empty() || node.inputs[0] == nullptr || !node.inputs[0]->has_tensor_type()) return false;
  const auto type = node.inputs[0]->tensor_type().elem_type();
  return type != onnx::TensorProto::FLOAT && type != onnx::TensorProto::DOUBLE && type != onnx::TensorProto::FLOAT16 &&
         type != onnx::TensorProto::BFLOAT16;
}

}  // namespace

void collect_length_uses(const TypedNode& node, const std::string& name, UseCollector& collector) {
  const auto length = [&](std::size_t input, std::optional<std::int64_t> size, std::int64_t less = 0) {
    if (size && *size > less)
      collector.want(node, input, static_cast<double>(*size - less),
                     messages::input_time_axis({.op = node.node.op_type(), .name = node_name(node.node)}));
  };
  if (name == "LSTM" || name == "GRU" || name == "RNN")
    return length(4, size_of_axis(node, 0, attribute_int(node.node, "layout", 0) == 1 ? 1 : 0));
  if (name == "Attention") return length(6, size_of_axis(node, 1, -2));
  if (name == "ReverseSequence") return length(1, size_of_axis(node, 0, attribute_int(node.node, "time_axis", 0)));
  if (name == "com.microsoft.GroupQueryAttention") {
    const auto total = size_of_axis(node, 3, 2).value_or(0) + size_of_axis(node, 0, 1).value_or(0);
    length(5, total, 1);
    return length(6, total);
  }
  if (name != "Less" && name != "LessOrEqual" && name != "Greater" && name != "GreaterOrEqual") return;
  if (node.known.size() != 2) return;
  for (std::size_t side = 0; side < 2; ++side) {
    const auto size = counted_size(node.known[1 - side]);
    if (!size || strands_of(node, side) == nullptr) continue;
    // position < length, or its opposite; position <= last.
    const bool strict =
        side == 1 ? name == "Less" || name == "GreaterOrEqual" : name == "Greater" || name == "LessOrEqual";
    collector.want(
        node, side, strict ? *size : *size - 1,
        messages::input_positions(
            {.positions = static_cast<std::int64_t>(*size), .op = node.node.op_type(), .name = node_name(node.node)}));
  }
}

void collect_mask_uses(const TypedNode& node, const std::string& name, UseCollector& collector) {
  const auto reason = messages::input_mask({.op = node.node.op_type(), .name = node_name(node.node)});
  const auto mask = [&](std::size_t input, bool wanted) {
    collector.want_truth(node, input, wanted, reason, UseKind::mask);
  };
  if (name == "Where") return mask(0, shows_when(node));
  if (name == "Compress") return mask(1, true);
  if (name == "NonZero") return mask(0, true);
  if (name == "com.microsoft.MultiHeadAttention") return mask(4, true);
  if (name == "com.microsoft.EmbedLayerNormalization") return mask(7, true);
  if (name == "com.microsoft.Attention" || name == "Attention") return mask(3, true);
  if (node.known.size() != 2) return;
  for (std::size_t side = 0; side < 2; ++side) {
    const auto* origin = strands_of(node, side);
    const bool beside_data = strands_of(node, 1 - side) == nullptr && !is_constant(node, 1 - side);
    if (origin == nullptr || !beside_data) continue;
    if (name == "Mul") mask(side, true);
    if (name != "Add" && !(name == "Sub" && side == 1)) continue;
    for (const auto& strand : origin->strands)
      if (strand.test == Test::none && std::abs(strand.scale) >= kHides)
        collector.add(
            strand, {.kind = UseKind::mask, .exact = std::round(-strand.most_offset / strand.scale), .reason = reason});
  }
}

void collect_divisor_uses(const TypedNode& node, const std::string& name, UseCollector& collector) {
  if ((name == "Div" || name == "Mod") && divides_integers(node))
    collector.want_truth(node, 1, true,
                         messages::input_divisor({.op = node.node.op_type(), .name = node_name(node.node)}),
                         UseKind::divisor);
  if (name == "BitShift")
    collector.bound(node, 1, 0, 7, messages::input_bits({.op = node.node.op_type(), .name = node_name(node.node)}));
  // Its other value is the one of the other branch, if there is one.
  if (name == "Equal")
    for (std::size_t side = 0; side < 2 && node.known.size() == 2; ++side)
      if (const auto* origin = strands_of(node, side); origin != nullptr && is_constant(node, 1 - side))
        for (const auto& strand : origin->strands)
          if (strand.test == Test::none && strand.scale == 1)
            collector.add(strand, {.kind = UseKind::compared, .exact = least_of(node, 1 - side) - strand.most_offset});
}

}  // namespace ridgeline::workload
