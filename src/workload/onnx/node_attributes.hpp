// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::workload {

[[nodiscard]] inline const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

[[nodiscard]] inline std::int64_t attribute_int(const onnx::NodeProto& node, std::string_view name,
                                                std::int64_t otherwise) {
  const auto* attribute = find_attribute(node, name);
  return attribute != nullptr && attribute->has_i() ? attribute->i() : otherwise;
}

[[nodiscard]] inline std::optional<std::vector<std::int64_t>> attribute_ints(const onnx::NodeProto& node,
                                                                             std::string_view name) {
  const auto* attribute = find_attribute(node, name);
  if (attribute == nullptr) return std::nullopt;
  return std::vector<std::int64_t>(attribute->ints().begin(), attribute->ints().end());
}

[[nodiscard]] inline std::string_view attribute_text(const onnx::NodeProto& node, std::string_view name,
                                                     std::string_view otherwise) {
  const auto* attribute = find_attribute(node, name);
  return attribute != nullptr && attribute->has_s() ? std::string_view(attribute->s()) : otherwise;
}

}  // namespace ridgeline::workload
