// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/values_by_name.hpp"

#include <cctype>
#include <string>
#include <string_view>

#include "workload/messages.hpp"
#include "workload/onnx/dim_role.hpp"
#include "workload/onnx/known_values.hpp"

namespace ridgeline::workload {
namespace {

bool has_word(const std::string& name, std::string_view word) {
  std::string lower = name;
  for (auto& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower.find(word) != std::string::npos;
}

}  // namespace

std::optional<schema::InputValues> values_by_name(const schema::TensorDescription& input,
                                                  const std::vector<schema::TensorDescription>& inputs,
                                                  const schema::ShapeSet& set) {
  schema::InputValues values;
  values.name = input.name;
  if (has_word(input.name, "mask")) {
    values.elements = {1};
    values.reason = messages::mask_by_name();
    return values;
  }
  if (input.element_type == "bool") return std::nullopt;
  if (has_word(input.name, "_idx") || has_word(input.name, "_index")) {
    values.elements = {0};
    values.reason = messages::index_by_name();
    return values;
  }
  if (!has_word(input.name, "len")) return std::nullopt;
  for (const auto& other : inputs)
    for (std::size_t axis = 0; axis < other.dims.size(); ++axis) {
      const auto role = role_of_dim_name(other.dim_names[axis]);
      const auto* dims = dims_in(set, other.name);
      if (other.name == input.name || dims == nullptr || axis >= dims->size() || other.dims[axis] >= 0) continue;
      if (role != DimRole::sequence && role != DimRole::samples && role != DimRole::frames) continue;
      values.elements = {(*dims)[axis]};
      values.reason = messages::length_by_name(other.name);
      return values;
    }
  return std::nullopt;
}

}  // namespace ridgeline::workload
