// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace ridgeline::stream {

/// Whether the values are probabilities already: none below 0, and together 1, to within 1 %.
[[nodiscard]] bool is_distribution(std::span<const float> values) noexcept;

/// Softmax of `logits` at `place`, 0 to 1. At least one of them is finite.
[[nodiscard]] float softmax_at(std::span<const float> logits, std::size_t place) noexcept;

}  // namespace ridgeline::stream
