// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::workload {

/// A tensor small enough to be an argument (shape, axes, sizes, scales) rather than data, with its values as doubles:
/// exact up to 2^53, and the extremes of int64 that exporters use for "to the end" survive the way back.
struct SmallTensor {
  int type = onnx::TensorProto::INT64;
  std::vector<std::int64_t> dims;
  std::vector<double> values;

  [[nodiscard]] bool is_integral() const;
  /// The values as integers, truncated and clamped to int64.
  [[nodiscard]] std::vector<std::int64_t> integers() const;
};

constexpr std::size_t kMostSmallElements = 4096;

/// nullopt when the tensor is larger, of another type than bool, int32, int64, float and double, external, or when its
/// data do not match its shape.
[[nodiscard]] std::optional<SmallTensor> read_small_tensor(const onnx::TensorProto& tensor);
[[nodiscard]] onnx::TensorProto write_small_tensor(const SmallTensor& tensor);

/// Elements of dims, or nullopt when one is negative or the product exceeds `limit`.
[[nodiscard]] std::optional<std::size_t> small_count(const std::vector<std::int64_t>& dims,
                                                     std::size_t limit = kMostSmallElements);

}  // namespace ridgeline::workload
