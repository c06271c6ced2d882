// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "workload/onnx/input_uses.hpp"
#include "workload/onnx/node_attributes.hpp"

namespace ridgeline::workload {
namespace {

/// Indices over an axis of `size`; of one that is not known only 0 is sure to be there.
void index(const TypedNode& node, std::size_t input, std::optional<std::int64_t> size, UseCollector& collector) {
  if (strands_of(node, input) == nullptr) return;
  if (size && *size < 1) return;
  const auto what = messages::input_indices({.rows = size, .op = node.node.op_type(), .name = node_name(node.node)});
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

}  // namespace

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

}  // namespace ridgeline::workload
