// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "schema/input_values.hpp"
#include "workload/element_type.hpp"
#include "workload/onnx/npy_file.hpp"

namespace ridgeline::workload {

/// Contents of one input, the same on every machine for the same name, seed and shape set, whatever the other inputs.
/// Along the first axis a larger shape starts with the smaller one's data, so item 0 is the same in every batch.
///   float types     uniform in [1/64, 1): normal numbers in every type, fit for log, sqrt and division
///   int32, int64 …  0 or 1: legal indices for Gather, legal masks and token types; 1 when there is a single element
///   8 and 16 bits   0..127: pixels and quantised activations
///   bool            either, with equal chance
/// `values`, unless nullptr, says what they are instead, with `batch` items.
/// Errors: unsupported for strings and unknown types, invalid_argument for a shape that is too large.
[[nodiscard]] base::Result<Tensor> generate_input(std::string_view name, ElementType type,
                                                  const std::vector<std::int64_t>& dims, std::uint64_t seed,
                                                  std::size_t shape_set, const schema::InputValues* values = nullptr,
                                                  std::int64_t batch = 0);

}  // namespace ridgeline::workload
