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
constexpr double kHides = 1e3;       // an additive mask subtracts at least so much

std::optional<std::int64_t> size_of_axis(const TypedNode& node, std::size_t input, std::int64_t axis) {
  const auto dims = dims_of(node, input);
  if (!dims) return std::nullopt;
  if (axis < 0) axis += static_cast<std::int64_t>(dims->size());
  if (axis < 0 || axis >= static_cast<std::int64_t>(dims->size())) return std::nullopt;
  return (*dims)[static_cast<std::size_t>(axis)];
}

/// Indices over an axis of `size`; of one that is not known only 0 is sure to be there.
void index(const TypedNode& node, std::size_t input, std::optional<std::int64_t> size, UseCollector& collector) {
  if (strands_of(node, input) == nullptr) return;
  if (size && *size < 1) return;
  const auto what = size ? fmt::format("indices of {} row{} ({})", *size, *size == 1 ? "" : "s", node_label(node.node))
                         : fmt::format("indices of an axis whose size is not known ({})", node_label(node.node));
  collector.bound(node, input, 0, size ? static_cast<double>(*size - 1) : 0, what);
}

/// One row of GatherND's and ScatterND's indices is a position in the first axes after those of the batch.
void index_nd(const TypedNode& node, UseCollector& collector) {
  const auto indices = dims_of(node, 1);
  const auto data = dims_of(node, 0);
  if (strands_of(node, 1) == nullptr) return;
  std::optional<std::int64_t> least;
  if (indices && data && !indices->empty()) {
    const auto first = static_cast<std::size_t>(std::max<std::int64_t>(0, attribute_int(node.node, "batch_dims", 0)));
    for (std::size_t axis = first; axis < data->size() && axis < first + static_cast<std::size_t>(indices->back());
         ++axis)
      least = std::min(least.value_or((*data)[axis]), (*data)[axis]);
  }
  index(node, 1, least, collector);
}

void collect_index_uses(const TypedNode& node, const std::string& name, UseCollector& collector) {
  const auto axis = attribute_int(node.node, "axis", 0);
  if (name == "Gather" || name == "GatherElements" || name == "ScatterElements" || name == "Scatter")
    return index(node, 1, size_of_axis(node, 0, axis), collector);
  if (name == "GatherND" || name == "ScatterND") return index_nd(node, collector);
  if (name == "ai.onnx.ml.ArrayFeatureExtractor") return index(node, 1, size_of_axis(node, 0, -1), collector);
  if (name == "com.microsoft.GatherBlockQuantized")
    return index(node, 1, size_of_axis(node, 0, attribute_int(node.node, "gather_axis", 0)), collector);
  if (name == "RoiAlign") return index(node, 2, size_of_axis(node, 0, 0), collector);
  if (name == "NegativeLogLikelihoodLoss" || name == "SoftmaxCrossEntropyLoss")
    return index(node, 1, size_of_axis(node, 0, 1), collector);
  if (name == "com.microsoft.RotaryEmbedding") return index(node, 1, size_of_axis(node, 2, 0), collector);
  if (name == "RotaryEmbedding") return index(node, 3, size_of_axis(node, 1, 0), collector);
  if (name == "MaxUnpool") {
    const auto dims = dims_of(node, 0);
    std::int64_t count = 1;
    for (const auto dim : dims.value_or(std::vector<std::int64_t>{})) count *= dim;
    return index(node, 1, dims ? std::optional(count) : std::nullopt, collector);
  }
  if (name == "OneHot") {
    const auto* depth = node.known.size() > 1 ? node.known[1].value : nullptr;
    const auto sizes = output_sizes(node);
    auto at = attribute_int(node.node, "axis", -1);
    if (at < 0) at += static_cast<std::int64_t>(sizes.size());
    std::optional<std::int64_t> size;
    if (depth != nullptr && !depth->values.empty()) size = depth->integers().front();
    if (!size && at >= 0 && at < static_cast<std::int64_t>(sizes.size())) size = sizes[static_cast<std::size_t>(at)];
    return index(node, 0, size, collector);
  }
  if (name == "com.microsoft.EmbedLayerNormalization") {
    index(node, 0, size_of_axis(node, 2, 0), collector);
    index(node, 1, size_of_axis(node, 4, 0), collector);
    index(node, 8, size_of_axis(node, 3, 0), collector);
  }
}

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

void collect_length_uses(const TypedNode& node, const std::string& name, UseCollector& collector) {
  const auto length = [&](std::size_t input, std::optional<std::int64_t> size, std::int64_t less = 0) {
    if (size && *size > less)
      collector.want(node, input, static_cast<double>(*size - less),
                     fmt::format("the time axis of {}", node_label(node.node)));
  };
  if (name == "LSTM" || name == "GRU" || name == "RNN")
    return length(4, size_of_axis(node, 0, attribute_int(node.node, "layout", 0) == 1 ? 1 : 0));
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
    collector.want(node, side, strict ? *size : *size - 1,
                   fmt::format("the axis of {} positions that {} compares it with", *size, node_label(node.node)));
  }
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

void collect_mask_uses(const TypedNode& node, const std::string& name, UseCollector& collector) {
  const auto reason = fmt::format("a mask that hides nothing ({})", node_label(node.node));
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

bool divides_integers(const TypedNode& node) {
  if (node.inputs.empty() || node.inputs[0] == nullptr || !node.inputs[0]->has_tensor_type()) return false;
  const auto type = node.inputs[0]->tensor_type().elem_type();
  return type != onnx::TensorProto::FLOAT && type != onnx::TensorProto::DOUBLE && type != onnx::TensorProto::FLOAT16 &&
         type != onnx::TensorProto::BFLOAT16;
}

void collect_divisor_uses(const TypedNode& node, const std::string& name, UseCollector& collector) {
  if ((name == "Div" || name == "Mod") && divides_integers(node))
    collector.want_truth(node, 1, true, fmt::format("a divisor, which must not be 0 ({})", node_label(node.node)),
                         UseKind::divisor);
  if (name == "BitShift") collector.bound(node, 1, 0, 7, fmt::format("bits to shift by ({})", node_label(node.node)));
  // Its other value is the one of the other branch, if there is one.
  if (name == "Equal")
    for (std::size_t side = 0; side < 2 && node.known.size() == 2; ++side)
      if (const auto* origin = strands_of(node, side); origin != nullptr && is_constant(node, 1 - side))
        for (const auto& strand : origin->strands)
          if (strand.test == Test::none && strand.scale == 1)
            collector.add(strand, {.kind = UseKind::compared, .exact = least_of(node, 1 - side) - strand.most_offset});
}

void collect_control_uses(const TypedNode& node, UseCollector& collector) {
  const auto label = node_label(node.node);
  if (node.node.op_type() == "Loop") {
    collector.want(node, 0, kUsualRounds, fmt::format("rounds of {}", label), UseKind::count);
    collector.want_truth(node, 1, true, fmt::format("{} goes on while it holds", label), UseKind::mask);
    return;
  }
  const auto* origin = strands_of(node, 0);
  if (origin == nullptr) return;
  for (const auto& strand : origin->strands) {
    const auto yes = strand.solve(true);
    const auto no = strand.solve(false);
    if (yes && no)
      collector.add(strand, {.kind = UseKind::condition, .exact = *yes, .otherwise = *no, .reason = label});
  }
}

}  // namespace

std::string node_label(const onnx::NodeProto& node) {
  const auto& name = !node.name().empty() || node.output_size() == 0 ? node.name() : node.output(0);
  return fmt::format("{} \"{}\"", node.op_type(), name);
}

const Origin* strands_of(const TypedNode& node, std::size_t input) {
  if (input >= node.known.size()) return nullptr;
  const auto* origin = node.known[input].origin;
  return origin != nullptr && !origin->strands.empty() ? origin : nullptr;
}

std::optional<std::vector<std::int64_t>> dims_of(const TypedNode& node, std::size_t input) {
  return input < node.inputs.size() ? concrete_dims(node.inputs[input]) : std::nullopt;
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

void UseCollector::bound(const TypedNode& node, std::size_t input, double low, double high, const std::string& reason) {
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
                        const std::string& reason, UseKind kind) {
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

void UseCollector::want_truth(const TypedNode& node, std::size_t input, bool wanted, const std::string& reason,
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
