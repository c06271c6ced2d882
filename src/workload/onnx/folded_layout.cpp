// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "workload/onnx/fold_rules.hpp"
#include "workload/onnx/node_attributes.hpp"

namespace ridgeline::workload {
namespace {

using Dims = std::vector<std::int64_t>;
using Folded = std::optional<SmallTensor>;

/// Axes from the attribute (older opsets) or from an input (newer ones).
std::optional<Dims> axes_of(const onnx::NodeProto& node, const FoldInputs& inputs, std::size_t index) {
  if (auto axes = attribute_ints(node, "axes")) return axes;
  const auto* value = value_at(inputs, index);
  if (value == nullptr) return std::nullopt;
  return value->integers();
}

bool normalise_axis(std::int64_t& axis, std::size_t rank) {
  const auto limit = static_cast<std::int64_t>(rank);
  if (axis < -limit || axis >= limit) return false;
  if (axis < 0) axis += limit;
  return true;
}

Folded fold_gather(const onnx::NodeProto& node, const FoldInputs& inputs) {
  const auto* data = value_at(inputs, 0);
  const auto* indices = value_at(inputs, 1);
  if (data == nullptr || indices == nullptr || data->dims.size() != 1 || attribute_int(node, "axis", 0) != 0)
    return std::nullopt;
  SmallTensor result{data->type, indices->dims, {}};
  for (auto index : indices->integers()) {
    if (!normalise_axis(index, data->values.size())) return std::nullopt;
    result.values.push_back(data->values[static_cast<std::size_t>(index)]);
  }
  return result;
}

Folded fold_concat(const onnx::NodeProto&, const FoldInputs& inputs) {
  SmallTensor result;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto* part = value_at(inputs, i);
    if (part == nullptr || part->dims.size() != 1) return std::nullopt;
    result.type = part->type;
    result.values.insert(result.values.end(), part->values.begin(), part->values.end());
    if (result.values.size() > kMostSmallElements) return std::nullopt;
  }
  result.dims = {static_cast<std::int64_t>(result.values.size())};
  return result;
}

/// The tensor with these positions of an axis, in their order.
SmallTensor pick(const SmallTensor& data, std::size_t axis, const Dims& positions) {
  const auto product = [&](std::size_t from, std::size_t to) {
    std::size_t count = 1;
    for (auto at = from; at < to; ++at) count *= static_cast<std::size_t>(data.dims[at]);
    return count;
  };
  const auto outer = product(0, axis);
  const auto inner = product(axis + 1, data.dims.size());
  const auto size = static_cast<std::size_t>(data.dims[axis]);
  SmallTensor result{data.type, data.dims, {}};
  result.dims[axis] = static_cast<std::int64_t>(positions.size());
  for (std::size_t block = 0; block < outer; ++block)
    for (const auto position : positions) {
      const auto from = (block * size + static_cast<std::size_t>(position)) * inner;
      for (std::size_t at = 0; at < inner; ++at) result.values.push_back(data.values[from + at]);
    }
  return result;
}

/// Positions of an axis of `size` that a Slice takes.
Dims sliced_positions(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto last = step > 0 ? size : size - 1;
  const auto clamp = [&](std::int64_t at, std::int64_t least) {
    return std::clamp<std::int64_t>(at < 0 ? std::max(at + size, least) : at, least, std::max(least, last));
  };
  Dims positions;
  const auto to = clamp(end, step > 0 ? 0 : -1);
  for (auto at = clamp(start, 0); step > 0 ? at < to : at > to && at < size; at += step) {
    positions.push_back(at);
    if (step > size || step < -size) break;  // before the sum overflows
  }
  return positions;
}

/// Starts, ends and steps from attributes (before opset 10) or inputs.
Folded fold_slice(const onnx::NodeProto& node, const FoldInputs& inputs) {
  const auto* data = value_at(inputs, 0);
  if (data == nullptr || (data->values.empty() && data->dims.size() > 1)) return std::nullopt;
  bool known = true;
  const auto read = [&](const char* name, std::size_t index) {
    auto values = attribute_ints(node, name);
    if (values || index >= inputs.size() || !inputs[index].given) return values;
    const auto* value = value_at(inputs, index);
    known = known && value != nullptr;
    return value != nullptr ? std::optional(value->integers()) : std::nullopt;
  };
  const auto starts = read("starts", 1);
  const auto ends = read("ends", 2);
  const auto axes = read("axes", 3);
  const auto steps = read("steps", 4);
  if (!known || !starts || !ends || starts->size() != ends->size()) return std::nullopt;
  if ((axes && axes->size() != starts->size()) || (steps && steps->size() != starts->size())) return std::nullopt;
  SmallTensor result = *data;
  for (std::size_t at = 0; at < starts->size(); ++at) {
    auto axis = axes ? (*axes)[at] : static_cast<std::int64_t>(at);
    const auto step = steps ? (*steps)[at] : 1;
    if (!normalise_axis(axis, result.dims.size()) || step == 0) return std::nullopt;
    const auto place = static_cast<std::size_t>(axis);
    result = pick(result, place, sliced_positions(result.dims[place], (*starts)[at], (*ends)[at], step));
  }
  return result;
}

Folded fold_transpose(const onnx::NodeProto& node, const FoldInputs& inputs) {
  const auto* data = value_at(inputs, 0);
  if (data == nullptr) return std::nullopt;
  const auto rank = data->dims.size();
  auto order = attribute_ints(node, "perm").value_or(Dims{});
  if (order.empty())
    for (auto axis = rank; axis > 0; --axis) order.push_back(static_cast<std::int64_t>(axis) - 1);
  std::vector<bool> seen(rank, false);
  for (const auto axis : order) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank) || seen[static_cast<std::size_t>(axis)])
      return std::nullopt;
    seen[static_cast<std::size_t>(axis)] = true;
  }
  if (order.size() != rank) return std::nullopt;
  SmallTensor result{data->type, {}, std::vector<double>(data->values.size())};
  for (const auto axis : order) result.dims.push_back(data->dims[static_cast<std::size_t>(axis)]);
  for (std::size_t at = 0; at < result.values.size(); ++at) {
    std::size_t from = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      // The coordinate of this axis in the result, times the distance of its elements in the data.
      std::size_t behind = 1;
      for (auto next = axis + 1; next < rank; ++next) behind *= static_cast<std::size_t>(result.dims[next]);
      std::size_t distance = 1;
      for (auto next = static_cast<std::size_t>(order[axis]) + 1; next < rank; ++next)
        distance *= static_cast<std::size_t>(data->dims[next]);
      from += at / behind % static_cast<std::size_t>(result.dims[axis]) * distance;
    }
    result.values[at] = data->values[from];
  }
  return result;
}

Folded fold_squeeze(const onnx::NodeProto& node, const FoldInputs& inputs) {
  const auto* data = value_at(inputs, 0);
  if (data == nullptr) return std::nullopt;
  SmallTensor result = *data;
  auto axes = axes_of(node, inputs, 1);
  if (!axes && inputs.size() > 1) return std::nullopt;
  result.dims.clear();
  std::vector<bool> drop(data->dims.size(), false);
  for (std::size_t i = 0; i < drop.size(); ++i) drop[i] = !axes && data->dims[i] == 1;
  if (axes)
    for (auto axis : *axes) {
      if (!normalise_axis(axis, drop.size()) || data->dims[static_cast<std::size_t>(axis)] != 1) return std::nullopt;
      drop[static_cast<std::size_t>(axis)] = true;
    }
  for (std::size_t i = 0; i < drop.size(); ++i)
    if (!drop[i]) result.dims.push_back(data->dims[i]);
  return result;
}

Folded fold_unsqueeze(const onnx::NodeProto& node, const FoldInputs& inputs) {
  const auto* data = value_at(inputs, 0);
  auto axes = axes_of(node, inputs, 1);
  if (data == nullptr || !axes || axes->size() > 8) return std::nullopt;
  const auto rank = data->dims.size() + axes->size();
  std::vector<bool> added(rank, false);
  for (auto axis : *axes) {
    if (!normalise_axis(axis, rank)) return std::nullopt;
    added[static_cast<std::size_t>(axis)] = true;
  }
  SmallTensor result = *data;
  result.dims.clear();
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (!added[i] && next >= data->dims.size()) return std::nullopt;
    result.dims.push_back(added[i] ? 1 : data->dims[next++]);
  }
  return result;
}

Folded fold_reshape(const onnx::NodeProto&, const FoldInputs& inputs) {
  const auto* data = value_at(inputs, 0);
  const auto* shape = value_at(inputs, 1);
  if (data == nullptr || shape == nullptr) return std::nullopt;
  SmallTensor result = *data;
  result.dims = shape->integers();
  if (const auto open = std::find(result.dims.begin(), result.dims.end(), -1); open != result.dims.end()) {
    *open = 1;
    const auto rest = small_count(result.dims);
    if (!rest || *rest == 0) return std::nullopt;
    *open = static_cast<std::int64_t>(data->values.size() / *rest);
  }
  if (small_count(result.dims) != data->values.size()) return std::nullopt;
  return result;
}

}  // namespace

const SmallTensor* value_at(const FoldInputs& inputs, std::size_t index) {
  return index < inputs.size() ? inputs[index].value : nullptr;
}

const FoldRules& layout_fold_rules() {
  static const FoldRules rules = {
      {"Gather", fold_gather},       {"Concat", fold_concat},       {"Slice", fold_slice},
      {"Squeeze", fold_squeeze},     {"Unsqueeze", fold_unsqueeze}, {"Reshape", fold_reshape},
      {"Transpose", fold_transpose},
  };
  return rules;
}

}  // namespace ridgeline::workload
