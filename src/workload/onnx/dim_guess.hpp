// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "workload/onnx/shape_choice.hpp"

namespace ridgeline::workload {

/// A guess for one dynamic dimension of an input from its name, its position and the other dimensions; the reason ends
/// a sentence that begins "axis 2 (height) = 640, ".
/// `decodes`: the model takes past keys and values, so a new sequence is one token long.
[[nodiscard]] DimHint guess_dim(const schema::TensorDescription& input, std::size_t axis, const ShapeHints& hints,
                                bool decodes);

}  // namespace ridgeline::workload
