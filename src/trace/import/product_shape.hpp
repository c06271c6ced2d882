// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "tracefile/events.hpp"

namespace ridgeline::trace {

/// Of an operation by its "Input Dims", "[[16, 128, 64], [16, 64, 128]]": of a batched product (aten::bmm), and of one
/// of a matrix and a vector. nullopt: of all others, and where the text is none.
[[nodiscard]] std::optional<ProductShape> product_shape(std::string_view operation, std::string_view dims);

}  // namespace ridgeline::trace
