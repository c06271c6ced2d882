// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::workload {

/// Tensor element types, numbered as ONNX's TensorProto.DataType, which ONNX Runtime's enumeration shares.
enum class ElementType : int {
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
};

/// "float", "float16", "int64", "bool": the names in TensorDescription and NamedTensor. "type 23" style texts are not
/// made up: an unknown type has the name "unknown".
[[nodiscard]] std::string_view element_type_name(ElementType type) noexcept;
[[nodiscard]] std::optional<ElementType> element_type_from_name(std::string_view name) noexcept;

/// Bits of one element; 0 for strings and unknown types.
[[nodiscard]] int element_bits(ElementType type) noexcept;

/// Elements of a shape; the error (invalid_argument) names a negative dimension or a product past 2^62.
[[nodiscard]] base::Result<std::int64_t> element_count(const std::vector<std::int64_t>& dims);

/// Bytes of a dense tensor: packed types are rounded up to whole bytes.
[[nodiscard]] base::Result<std::int64_t> tensor_bytes(ElementType type, const std::vector<std::int64_t>& dims);

/// "1x3x640x640", "scalar".
[[nodiscard]] std::string shape_text(const std::vector<std::int64_t>& dims);

}  // namespace ridgeline::workload
