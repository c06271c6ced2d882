// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/known_values.hpp"

#include <algorithm>

#include "workload/element_type.hpp"
#include "workload/onnx/dim_role.hpp"
#include "workload/onnx/value_origin.hpp"

namespace ridgeline::workload {

const std::vector<std::int64_t>* dims_in(const schema::ShapeSet& set, const std::string& name) {
  for (const auto& shape : set)
    if (shape.name == name) return &shape.dims;
  return nullptr;
}

std::int64_t batch_of(const std::vector<schema::TensorDescription>& inputs, const schema::ShapeSet& set) {
  for (const auto& input : inputs)
    if (const auto axis = dynamic_batch_axis(input))
      if (const auto* dims = dims_in(set, input.name); dims != nullptr && *axis < dims->size()) return (*dims)[*axis];
  return 0;
}

std::string drawn_by_type(const std::string& element_type, const std::vector<std::int64_t>* dims) {
  const auto type = element_type_from_name(element_type);
  const int bits = type ? element_bits(*type) : 0;
  if (type == ElementType::boolean) return "0 or 1";
  if (bits == 8 || bits == 16) return "0..127";
  return dims != nullptr && element_count(*dims).value_or(0) == 1 ? "1" : "0 or 1";
}

std::map<std::string, SmallTensor> known_values(const schema::ModelDescription& description,
                                                const schema::ShapeSet& shapes,
                                                const std::vector<schema::InputValues>& values) {
  std::map<std::string, SmallTensor> known;
  const auto batch = batch_of(description.inputs, shapes);
  for (const auto& one : values) {
    const auto* dims = dims_in(shapes, one.name);
    const auto input = std::find_if(description.inputs.begin(), description.inputs.end(),
                                    [&](const auto& each) { return each.name == one.name; });
    const auto count = dims != nullptr ? small_count(*dims, kMostElements) : std::nullopt;
    if (!count || input == description.inputs.end() || (one.elements.empty() && !one.real)) continue;
    const auto type = element_type_from_name(input->element_type);
    if (type != ElementType::int64 && type != ElementType::int32 && type != ElementType::boolean &&
        type != ElementType::float32 && type != ElementType::float64)
      continue;
    SmallTensor tensor{static_cast<int>(*type), *dims, {}};
    for (std::size_t at = 0; at < *count; ++at) {
      const auto element = one.elements.size() == 1 ? 0 : at;
      const bool missing = !one.real && element >= one.elements.size();
      tensor.values.push_back(
          missing    ? 0
          : one.real ? *one.real
                     : static_cast<double>(one.elements[element] +
                                           (element < one.per_batch.size() ? one.per_batch[element] * batch : 0)));
    }
    known.emplace(one.name, std::move(tensor));
  }
  return known;
}

}  // namespace ridgeline::workload
