// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trace/analysis/analysed_trace.hpp"

namespace ridgeline::trace {

/// What matrix products of a trace are of, by the operations that launched their kernels.
class Products {
 public:
  /// `analysed` must outlive the object.
  explicit Products(const AnalysedTrace& analysed);

  /// Whether two products can be those around the softmax of an attention, Q·K and P·V: of as many pairs of matrices,
  /// none of them parameters, and of shapes that fit, where they were recorded. Where neither operations nor nodes
  /// tell, grids do that have a layer for each pair; or, in a trace that has modules and no operations, that one module
  /// with others in it launches both by itself: products of parameters are its linear layers'.
  [[nodiscard]] bool are_of_attention(std::size_t first, std::size_t second) const;
  [[nodiscard]] bool is_of_convolution(std::size_t kernel) const;
  /// Of a matrix and a vector, where shapes were recorded.
  [[nodiscard]] bool is_of_vector(std::size_t kernel) const;

 private:
  enum class Kind { unknown, batched, other };
  [[nodiscard]] Kind kind_of(std::size_t kernel) const;
  [[nodiscard]] bool are_of_one_module(std::size_t first, std::size_t second) const;
  [[nodiscard]] std::optional<ProductShape> shape_of(std::size_t kernel) const;

  const AnalysedTrace& analysed_;
  std::unordered_map<std::int64_t, std::size_t> nodes_;  ///< of ONNX Runtime by correlation
  bool has_operations_ = false;
  std::vector<bool> has_modules_;  ///< of rows of the module tree
};

}  // namespace ridgeline::trace
