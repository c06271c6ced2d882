// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "workload/onnx/fold_rules.hpp"
#include "workload/onnx/node_attributes.hpp"

namespace ridgeline::workload {
namespace {

using onnx::TensorProto;
using Dims = std::vector<std::int64_t>;
using Folded = std::optional<SmallTensor>;

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

Folded fold_binary(const onnx::NodeProto& node, const FoldInputs& inputs) {
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

Folded fold_unary(const onnx::NodeProto& node, const FoldInputs& inputs) {
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

Folded fold_where(const onnx::NodeProto&, const FoldInputs& inputs) {
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
Folded fold_reduce(const onnx::NodeProto& node, const FoldInputs& inputs) {
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

}  // namespace

const FoldRules& calculating_fold_rules() {
  static const FoldRules rules = [] {
    FoldRules table = {{"Where", fold_where}};
    for (const char* name : {"Neg", "Abs", "Floor", "Ceil", "Round", "Sqrt", "Not"}) table.emplace(name, fold_unary);
    for (const char* name : {"ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"}) table.emplace(name, fold_reduce);
    for (const auto& [name, row] : binary_rows()) table.emplace(name, fold_binary);
    return table;
  }();
  return rules;
}

}  // namespace ridgeline::workload
