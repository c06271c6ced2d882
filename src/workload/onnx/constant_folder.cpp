// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/constant_folder.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "workload/onnx/graph_shapes.hpp"
#include "workload/onnx/node_attributes.hpp"

namespace ridgeline::workload {
namespace {

using onnx::TensorProto;
using Dims = std::vector<std::int64_t>;
using Folded = std::optional<SmallTensor>;
using Inputs = std::vector<FoldInput>;

const SmallTensor* value_at(const Inputs& inputs, std::size_t index) {
  return index < inputs.size() ? inputs[index].value : nullptr;
}

SmallTensor integers(const Dims& values) {
  return {TensorProto::INT64, {static_cast<std::int64_t>(values.size())}, {values.begin(), values.end()}};
}

/// Axes from the attribute (older opsets) or from an input (newer ones).
std::optional<Dims> axes_of(const onnx::NodeProto& node, const Inputs& inputs, std::size_t index) {
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

Folded fold_constant(const onnx::NodeProto& node) {
  for (const auto& attribute : node.attribute()) {
    const auto& name = attribute.name();
    if (name == "value" && attribute.has_t()) return read_small_tensor(attribute.t());
    if (name == "value_int") return SmallTensor{TensorProto::INT64, {}, {static_cast<double>(attribute.i())}};
    if (name == "value_float") return SmallTensor{TensorProto::FLOAT, {}, {static_cast<double>(attribute.f())}};
    if (name == "value_ints" && small_count({attribute.ints_size()}))
      return integers({attribute.ints().begin(), attribute.ints().end()});
    if (name == "value_floats" && small_count({attribute.floats_size()}))
      return SmallTensor{
          TensorProto::FLOAT, {attribute.floats_size()}, {attribute.floats().begin(), attribute.floats().end()}};
  }
  return std::nullopt;
}

Folded fold_shape(const onnx::NodeProto& node, const Inputs& inputs) {
  if (inputs.empty()) return std::nullopt;
  const auto dims = concrete_dims(inputs[0].type);
  if (!dims) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(dims->size());
  const auto clamp = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const auto start = clamp(std::max(attribute_int(node, "start", 0), -rank));
  const auto end = std::max(start, clamp(std::max(attribute_int(node, "end", rank), -rank)));
  return integers({dims->begin() + start, dims->begin() + end});
}

Folded fold_size(const onnx::NodeProto&, const Inputs& inputs) {
  const auto dims = inputs.empty() ? std::nullopt : concrete_dims(inputs[0].type);
  if (!dims) return std::nullopt;
  double count = 1;
  for (const auto dim : *dims) count *= static_cast<double>(dim);
  return SmallTensor{TensorProto::INT64, {}, {count}};
}

Folded fold_gather(const onnx::NodeProto& node, const Inputs& inputs) {
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

Folded fold_concat(const onnx::NodeProto&, const Inputs& inputs) {
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

/// Of a vector: starts, ends and steps from attributes (before opset 10) or inputs.
Folded fold_slice(const onnx::NodeProto& node, const Inputs& inputs) {
  const auto* data = value_at(inputs, 0);
  if (data == nullptr || data->dims.size() != 1) return std::nullopt;
  const auto single = [&](const char* name, std::size_t index, std::int64_t otherwise) -> std::optional<std::int64_t> {
    auto values = attribute_ints(node, name);
    if (!values && index < inputs.size() && inputs[index].given) {
      const auto* value = value_at(inputs, index);
      if (value == nullptr) return std::nullopt;
      values = value->integers();
    }
    if (!values) return otherwise;
    if (values->size() != 1) return std::nullopt;
    return values->front();
  };
  const auto size = data->dims[0];
  const auto axis = single("axes", 3, 0);
  auto start = single("starts", 1, std::numeric_limits<std::int64_t>::min());
  auto end = single("ends", 2, std::numeric_limits<std::int64_t>::max());
  const auto step = single("steps", 4, 1);
  if (!axis || (*axis != 0 && *axis != -1) || !start || !end || !step || *step != 1) return std::nullopt;
  const auto clamp = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? std::max(at, -size) + size : at, 0, size);
  };
  const auto from = clamp(*start);
  const auto to = std::max(from, clamp(*end));
  return SmallTensor{data->type, {to - from}, {data->values.begin() + from, data->values.begin() + to}};
}

Folded fold_squeeze(const onnx::NodeProto& node, const Inputs& inputs) {
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

Folded fold_unsqueeze(const onnx::NodeProto& node, const Inputs& inputs) {
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

Folded fold_reshape(const onnx::NodeProto&, const Inputs& inputs) {
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

Folded fold_cast(const onnx::NodeProto& node, const Inputs& inputs) {
  const auto* data = value_at(inputs, 0);
  const auto to = attribute_int(node, "to", 0);
  if (data == nullptr) return std::nullopt;
  SmallTensor result{static_cast<int>(to), data->dims, data->values};
  if (to == TensorProto::BOOL) {
    for (auto& value : result.values) value = value != 0 ? 1 : 0;
  } else if (to == TensorProto::INT64 || to == TensorProto::INT32) {
    for (auto& value : result.values) value = std::trunc(value);
  } else if (to != TensorProto::FLOAT && to != TensorProto::DOUBLE) {
    return std::nullopt;
  }
  return result;
}

Folded fold_constant_of_shape(const onnx::NodeProto& node, const Inputs& inputs) {
  const auto* shape = value_at(inputs, 0);
  if (shape == nullptr) return std::nullopt;
  const auto dims = shape->integers();
  const auto count = small_count(dims);
  if (!count) return std::nullopt;
  SmallTensor fill{TensorProto::FLOAT, {1}, {0.0}};
  if (const auto* attribute = find_attribute(node, "value"); attribute != nullptr) {
    const auto given = read_small_tensor(attribute->t());
    if (!given || given->values.size() != 1) return std::nullopt;
    fill = *given;
  }
  return SmallTensor{fill.type, dims, std::vector<double>(*count, fill.values[0])};
}

Folded fold_range(const onnx::NodeProto&, const Inputs& inputs) {
  const auto* start = value_at(inputs, 0);
  const auto* limit = value_at(inputs, 1);
  const auto* delta = value_at(inputs, 2);
  for (const auto* one : {start, limit, delta})
    if (one == nullptr || one->values.size() != 1) return std::nullopt;
  if (delta->values[0] == 0) return std::nullopt;
  const double count = std::max(0.0, std::ceil((limit->values[0] - start->values[0]) / delta->values[0]));
  if (!(count <= static_cast<double>(kMostSmallElements))) return std::nullopt;
  SmallTensor result{start->type, {static_cast<std::int64_t>(count)}, {}};
  for (double i = 0; i < count; ++i) result.values.push_back(start->values[0] + i * delta->values[0]);
  return result;
}

/// Value of a tensor broadcast along one dimension or none: the cases that shape arithmetic has.
double broadcast_value(const SmallTensor& tensor, std::size_t index) {
  return tensor.values.size() == 1 ? tensor.values[0] : tensor.values[index];
}

/// The shape that all operands share, where an operand of one element goes with anything.
std::optional<Dims> common_dims(const std::vector<const SmallTensor*>& operands) {
  const SmallTensor* widest = operands.front();
  for (const auto* one : operands) {
    if (widest->values.size() != 1) break;
    if (one->values.size() != 1 || one->dims.size() > widest->dims.size()) widest = one;
  }
  for (const auto* one : operands)
    if ((one->values.size() != 1 && one->dims != widest->dims) || one->dims.size() > widest->dims.size())
      return std::nullopt;
  return widest->dims;
}

using Binary = double (*)(double, double);

double divide_integers(double a, double b) { return std::trunc(a / b); }
double modulo(double a, double b) { return a - b * std::floor(a / b); }

struct BinaryRow {
  Binary function;
  bool logical;  // the result is bool
};

const std::map<std::string, BinaryRow>& binary_rows() {
  static const std::map<std::string, BinaryRow> rows = {
      {"Add", {[](double a, double b) { return a + b; }, false}},
      {"Sub", {[](double a, double b) { return a - b; }, false}},
      {"Mul", {[](double a, double b) { return a * b; }, false}},
      {"Div", {[](double a, double b) { return a / b; }, false}},
      {"Mod", {modulo, false}},
      {"Pow", {[](double a, double b) { return std::pow(a, b); }, false}},
      {"Min", {[](double a, double b) { return std::fmin(a, b); }, false}},
      {"Max", {[](double a, double b) { return std::fmax(a, b); }, false}},
      {"Equal", {[](double a, double b) { return a == b ? 1.0 : 0.0; }, true}},
      {"Less", {[](double a, double b) { return a < b ? 1.0 : 0.0; }, true}},
      {"LessOrEqual", {[](double a, double b) { return a <= b ? 1.0 : 0.0; }, true}},
      {"Greater", {[](double a, double b) { return a > b ? 1.0 : 0.0; }, true}},
      {"GreaterOrEqual", {[](double a, double b) { return a >= b ? 1.0 : 0.0; }, true}},
      {"And", {[](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }, true}},
      {"Or", {[](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }, true}},
  };
  return rows;
}

Folded fold_binary(const onnx::NodeProto& node, const Inputs& inputs) {
  const auto& row = binary_rows().at(node.op_type());
  const auto* a = value_at(inputs, 0);
  const auto* b = value_at(inputs, 1);
  if (a == nullptr || b == nullptr || inputs.size() != 2) return std::nullopt;
  const auto dims = common_dims({a, b});
  if (!dims) return std::nullopt;
  const auto count = small_count(*dims);
  if (!count) return std::nullopt;
  auto function = row.function;
  const bool divides = node.op_type() == "Div" || node.op_type() == "Mod";
  if (node.op_type() == "Div" && a->is_integral()) function = divide_integers;
  SmallTensor result{row.logical ? static_cast<int>(TensorProto::BOOL) : a->type, *dims, std::vector<double>(*count)};
  for (std::size_t i = 0; i < *count; ++i) {
    const double divisor = broadcast_value(*b, i);
    if (divides && a->is_integral() && divisor == 0) return std::nullopt;
    result.values[i] = function(broadcast_value(*a, i), divisor);
  }
  return result;
}

Folded fold_unary(const onnx::NodeProto& node, const Inputs& inputs) {
  const auto* data = value_at(inputs, 0);
  if (data == nullptr) return std::nullopt;
  SmallTensor result = *data;
  const auto& type = node.op_type();
  for (auto& value : result.values) {
    if (type == "Neg") value = -value;
    if (type == "Abs") value = std::fabs(value);
    if (type == "Floor") value = std::floor(value);
    if (type == "Ceil") value = std::ceil(value);
    if (type == "Round") value = std::nearbyint(value);  // half to even, as ONNX asks
    if (type == "Sqrt") value = std::sqrt(value);
    if (type == "Not") value = value == 0 ? 1 : 0;
  }
  return result;
}

Folded fold_where(const onnx::NodeProto&, const Inputs& inputs) {
  const auto* condition = value_at(inputs, 0);
  const auto* yes = value_at(inputs, 1);
  const auto* no = value_at(inputs, 2);
  if (condition == nullptr || yes == nullptr || no == nullptr) return std::nullopt;
  const auto dims = common_dims({condition, yes, no});
  const auto count = dims ? small_count(*dims) : std::nullopt;
  if (!count) return std::nullopt;
  SmallTensor result{yes->type, *dims, std::vector<double>(*count)};
  for (std::size_t i = 0; i < *count; ++i)
    result.values[i] = broadcast_value(*condition, i) != 0 ? broadcast_value(*yes, i) : broadcast_value(*no, i);
  return result;
}

/// Of a vector, over all of it.
Folded fold_reduce(const onnx::NodeProto& node, const Inputs& inputs) {
  const auto* data = value_at(inputs, 0);
  if (data == nullptr || data->dims.size() != 1 || data->values.empty()) return std::nullopt;
  const auto& type = node.op_type();
  double total = data->values[0];
  for (std::size_t i = 1; i < data->values.size(); ++i) {
    const double value = data->values[i];
    total = type == "ReduceProd"  ? total * value
            : type == "ReduceSum" ? total + value
            : type == "ReduceMax" ? std::fmax(total, value)
                                  : std::fmin(total, value);
  }
  const bool keep = attribute_int(node, "keepdims", 1) != 0;
  return SmallTensor{data->type, keep ? Dims{1} : Dims{}, {total}};
}

Folded fold_identity(const onnx::NodeProto&, const Inputs& inputs) {
  const auto* data = value_at(inputs, 0);
  return data != nullptr ? Folded(*data) : std::nullopt;
}

using Fold = Folded (*)(const onnx::NodeProto&, const Inputs&);

const std::map<std::string, Fold>& fold_rows() {
  static const std::map<std::string, Fold> rows = [] {
    std::map<std::string, Fold> table = {
        {"Shape", fold_shape},         {"Size", fold_size},         {"Gather", fold_gather},
        {"Concat", fold_concat},       {"Slice", fold_slice},       {"Squeeze", fold_squeeze},
        {"Unsqueeze", fold_unsqueeze}, {"Reshape", fold_reshape},   {"Cast", fold_cast},
        {"Range", fold_range},         {"Where", fold_where},       {"ConstantOfShape", fold_constant_of_shape},
        {"ReduceProd", fold_reduce},   {"ReduceSum", fold_reduce},  {"ReduceMax", fold_reduce},
        {"ReduceMin", fold_reduce},    {"Identity", fold_identity}, {"Neg", fold_unary},
        {"Abs", fold_unary},           {"Floor", fold_unary},       {"Ceil", fold_unary},
        {"Round", fold_unary},         {"Sqrt", fold_unary},        {"Not", fold_unary},
    };
    for (const auto& [name, row] : binary_rows()) table.emplace(name, fold_binary);
    return table;
  }();
  return rows;
}

}  // namespace

std::optional<SmallTensor> fold_node(const onnx::NodeProto& node, const std::vector<FoldInput>& inputs) {
  if (node.output_size() != 1) return std::nullopt;
  if (node.op_type() == "Constant") return fold_constant(node);
  const auto row = fold_rows().find(node.op_type());
  if (row == fold_rows().end()) return std::nullopt;
  return row->second(node, inputs);
}

}  // namespace ridgeline::workload
