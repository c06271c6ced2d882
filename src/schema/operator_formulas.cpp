// SPDX-License-Identifier: Apache-2.0
#include "schema/operator_formulas.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/text.hpp"

namespace ridgeline::schema {
namespace {

using Flops = std::optional<double>;
using Dims = std::vector<std::int64_t>;

double product(Dims::const_iterator begin, Dims::const_iterator end) {
  double result = 1;
  for (; begin != end; ++begin) result *= static_cast<double>(*begin);
  return result;
}

bool has_input(const OperatorCall& call, std::size_t index) {
  return index < call.inputs.size() && call.inputs[index].is_given;
}

std::optional<Dims> dims_at(const std::vector<Operand>& operands, std::size_t index) {
  return index < operands.size() ? operands[index].dims : std::nullopt;
}

/// `otherwise` where it is not set; nullopt where no attribute is known, or it has another type.
template <typename T>
std::optional<T> attribute(const OperatorCall& call, std::string_view name, std::optional<T> otherwise) {
  if (!call.attributes) return std::nullopt;
  const auto found = call.attributes->find(name);
  if (found == call.attributes->end()) return otherwise;
  const auto* value = std::get_if<T>(&found->second);
  return value != nullptr ? std::optional<T>(*value) : std::nullopt;
}

/// Positions that attention looks at, by the keys that it returns for the next call; nullopt: it returns none, or they
/// are not known.
std::optional<std::int64_t> remembered(const OperatorCall& call) {
  const auto present = dims_at(call.outputs, 1);
  if (!present) return std::nullopt;
  if (present->size() == 4) return (*present)[2];  // [batch, heads, T, head size]
  if (present->size() == 5) return (*present)[3];  // [2, batch, heads, T, head size]
  return std::nullopt;
}

}  // namespace

Flops elements_of(const std::vector<Operand>& operands, std::size_t index) {
  const auto dims = dims_at(operands, index);
  if (!dims) return std::nullopt;
  return product(dims->begin(), dims->end());
}

Flops conv_flops(const OperatorCall& call, std::size_t weight, std::size_t bias) {
  const auto outputs = elements_of(call.outputs, 0);
  const auto kernel = dims_at(call.inputs, weight);
  if (!outputs || !kernel || kernel->size() < 3) return std::nullopt;
  return *outputs * (2 * product(kernel->begin() + 1, kernel->end()) + (has_input(call, bias) ? 1 : 0));
}

Flops conv_transpose_flops(const OperatorCall& call) {
  const auto inputs = elements_of(call.inputs, 0);
  const auto outputs = elements_of(call.outputs, 0);
  const auto kernel = dims_at(call.inputs, 1);
  if (!inputs || !outputs || !kernel || kernel->size() < 3) return std::nullopt;
  return *inputs * 2 * product(kernel->begin() + 1, kernel->end()) + (has_input(call, 2) ? *outputs : 0);
}

Flops matmul_flops(const OperatorCall& call, std::size_t right) {
  const auto outputs = elements_of(call.outputs, 0);
  const auto left = dims_at(call.inputs, 0);
  if (!outputs || !left || left->empty() || !has_input(call, right)) return std::nullopt;
  return 2 * *outputs * static_cast<double>(left->back());
}

Flops gemm_flops(const OperatorCall& call) {
  const auto outputs = dims_at(call.outputs, 0);
  const auto left = elements_of(call.inputs, 0);
  if (!outputs || !left || outputs->size() != 2 || (*outputs)[0] <= 0) return std::nullopt;
  // Either side may be transposed: what is not in the result is summed over.
  const double depth = *left / static_cast<double>((*outputs)[0]);
  return product(outputs->begin(), outputs->end()) * (2 * depth + (has_input(call, 2) ? 1 : 0));
}

Flops einsum_flops(const OperatorCall& call) {
  const auto given = attribute<std::string>(call, "equation", std::nullopt);
  if (!given) return std::nullopt;
  auto equation = *given;
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const auto terms = base::split(equation.substr(0, equation.find("->")), ',');
  if (terms.size() != call.inputs.size()) return std::nullopt;
  std::map<char, double> sizes;
  Dims ellipsis;  // broadcast from the right
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto& dims = call.inputs[i].dims;
    if (!dims) return std::nullopt;
    const auto dots = terms[i].find("...");
    const auto letters = terms[i].size() - (dots == std::string::npos ? 0 : 3);
    if (dims->size() < letters || (dots == std::string::npos && dims->size() != letters)) return std::nullopt;
    const auto hidden = dims->size() - letters;
    const auto before = dots == std::string::npos ? letters : dots;
    for (std::size_t axis = 0; axis < dims->size(); ++axis) {
      if (axis >= before && axis < before + hidden) {
        const auto from_right = before + hidden - 1 - axis;
        if (ellipsis.size() <= from_right) ellipsis.resize(from_right + 1, 1);
        ellipsis[from_right] = std::max(ellipsis[from_right], (*dims)[axis]);
        continue;
      }
      const auto letter = terms[i][axis < before ? axis : axis - hidden + 3];
      auto& size = sizes[letter];
      size = std::max(size, static_cast<double>((*dims)[axis]));
    }
  }
  double total = product(ellipsis.begin(), ellipsis.end());
  for (const auto& [letter, size] : sizes) total *= size;
  if (terms.size() > 1) return total * static_cast<double>(terms.size());
  const auto arrow = equation.find("->");
  auto result = arrow == std::string::npos ? terms[0] : equation.substr(arrow + 2);
  auto operand = terms[0];
  std::sort(result.begin(), result.end());
  std::sort(operand.begin(), operand.end());
  return result == operand ? 0 : total;
}

Flops pool_flops(const OperatorCall& call) {
  const auto outputs = elements_of(call.outputs, 0);
  const auto kernel = attribute<Dims>(call, "kernel_shape", std::nullopt);
  if (!outputs || !kernel) return std::nullopt;
  return *outputs * product(kernel->begin(), kernel->end());
}

Flops recurrent_flops(const OperatorCall& call) {
  const auto input = dims_at(call.inputs, 0);
  const auto weights = dims_at(call.inputs, 1);     // [directions, gates x hidden, input size]
  const auto recurrence = dims_at(call.inputs, 2);  // [directions, gates x hidden, hidden]
  if (!input || !weights || !recurrence || input->size() != 3 || weights->size() != 3 || recurrence->size() != 3)
    return std::nullopt;
  const auto& type = call.name;
  const double elementwise = type == "LSTM" ? 26 : type == "GRU" ? 20 : 3;
  const double steps =
      static_cast<double>((*input)[0]) * static_cast<double>((*input)[1]) * static_cast<double>((*weights)[0]);
  const double rows = static_cast<double>((*weights)[1]);
  const double hidden = static_cast<double>((*recurrence)[2]);
  return steps * (2 * rows * (static_cast<double>((*weights)[2]) + hidden) + elementwise * hidden);
}

Flops resize_flops(const OperatorCall& call) {
  const auto mode = attribute<std::string>(call, "mode", "nearest");
  if (!mode) return std::nullopt;
  if (*mode == "nearest") return 0;
  const auto from = dims_at(call.inputs, 0);
  const auto to = dims_at(call.outputs, 0);
  if (!from || !to || from->size() != to->size()) return std::nullopt;
  int resized = 0;
  for (std::size_t axis = 0; axis < to->size(); ++axis) resized += (*from)[axis] != (*to)[axis] ? 1 : 0;
  const double outputs = product(to->begin(), to->end());
  if (resized == 0) return 0;
  return *mode == "cubic" ? outputs * 2 * std::pow(4.0, resized) : outputs * 3 * (std::pow(2.0, resized) - 1);
}

Flops lrn_flops(const OperatorCall& call) {
  const auto inputs = elements_of(call.inputs, 0);
  const auto size = attribute<std::int64_t>(call, "size", 1);
  if (!inputs || !size) return std::nullopt;
  return *inputs * (2 * static_cast<double>(*size) + 3);
}

Flops attention_flops(const OperatorCall& call) {
  const auto query = dims_at(call.inputs, 0);
  const auto second = dims_at(call.inputs, 1);
  if (!query || !second || query->size() != 3) return std::nullopt;
  const double batch = static_cast<double>((*query)[0]);
  const double length = static_cast<double>((*query)[1]);
  const double width = static_cast<double>((*query)[2]);
  double hidden = width;
  double others = length;
  double projection = 0;
  if (second->size() == 2) {  // weights [I, 3H]
    hidden = static_cast<double>((*second)[1]) / 3;
    projection = 2 * batch * length * width * static_cast<double>((*second)[1]);
  } else {
    if (second->size() != 3) return std::nullopt;  // key [batch, T, ...]
    others = static_cast<double>((*second)[1]);
  }
  if (const auto all = remembered(call)) others = std::max(others, static_cast<double>(*all));
  return projection + 4 * batch * length * others * hidden;
}

}  // namespace ridgeline::schema
