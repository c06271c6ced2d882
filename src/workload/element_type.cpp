// SPDX-License-Identifier: Apache-2.0
#include "workload/element_type.hpp"

namespace ridgeline::workload {
namespace {

struct Row {
  ElementType type;
  std::string_view name;
  int bits;
};

using enum ElementType;
constexpr Row kRows[] = {
    {float32, "float", 32},
    {uint8, "uint8", 8},
    {int8, "int8", 8},
    {uint16, "uint16", 16},
    {int16, "int16", 16},
    {int32, "int32", 32},
    {int64, "int64", 64},
    {string, "string", 0},
    {boolean, "bool", 8},
    {float16, "float16", 16},
    {float64, "double", 64},
    {uint32, "uint32", 32},
    {uint64, "uint64", 64},
    {complex64, "complex64", 64},
    {complex128, "complex128", 128},
    {bfloat16, "bfloat16", 16},
    {float8e4m3fn, "float8e4m3fn", 8},
    {float8e4m3fnuz, "float8e4m3fnuz", 8},
    {float8e5m2, "float8e5m2", 8},
    {float8e5m2fnuz, "float8e5m2fnuz", 8},
    {uint4, "uint4", 4},
    {int4, "int4", 4},
};

const Row* find_row(ElementType type) noexcept {
  for (const auto& row : kRows)
    if (row.type == type) return &row;
  return nullptr;
}

}  // namespace

std::string_view element_type_name(ElementType type) noexcept {
  const auto* row = find_row(type);
  return row != nullptr ? row->name : "unknown";
}

std::optional<ElementType> element_type_from_name(std::string_view name) noexcept {
  for (const auto& row : kRows)
    if (row.name == name) return row.type;
  return std::nullopt;
}

int element_bits(ElementType type) noexcept {
  const auto* row = find_row(type);
  return row != nullptr ? row->bits : 0;
}

base::Result<std::int64_t> element_count(const std::vector<std::int64_t>& dims) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 62;
  std::int64_t count = 1;
  bool empty = false;
  for (const auto dim : dims) {
    if (dim < 0)
      return base::fail(base::ErrorCode::invalid_argument, "shape {} has a negative dimension", shape_text(dims))
          .hint("give every dimension a size");
    empty = empty || dim == 0;
    if (dim != 0 && count > kLimit / dim)
      return base::fail(base::ErrorCode::invalid_argument, "shape {} has more than 2^62 elements", shape_text(dims));
    if (dim != 0) count *= dim;
  }
  return empty ? 0 : count;
}

base::Result<std::int64_t> tensor_bytes(ElementType type, const std::vector<std::int64_t>& dims) {
  RL_TRY_ASSIGN(const auto count, element_count(dims));
  const int bits = element_bits(type);
  if (bits == 0)
    return base::fail(base::ErrorCode::unsupported, "element type {} has no fixed size", element_type_name(type));
  constexpr std::int64_t kLimit = std::int64_t{1} << 62;
  if (count > kLimit / bits)
    return base::fail(base::ErrorCode::invalid_argument, "shape {} of {} has more than 2^62 bits", shape_text(dims),
                      element_type_name(type));
  return (count * bits + 7) / 8;
}

std::string shape_text(const std::vector<std::int64_t>& dims) {
  if (dims.empty()) return "scalar";
  return fmt::format("{}", fmt::join(dims, "x"));
}

}  // namespace ridgeline::workload
