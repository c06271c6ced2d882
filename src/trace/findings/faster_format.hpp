// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// What a GPU multiplies matrices of FP32 in at twice the rate or more.
enum class FasterFormat {
  none,  ///< or the trace does not tell
  fp16,
  half,  ///< FP16 and BF16, but not TF32
  tf32,  ///< and FP16 and BF16
};

/// Of a device of the trace by its number.
[[nodiscard]] FasterFormat faster_format(const Trace& trace, std::int32_t device);
/// Of one whose faster format is TF32: whether that has at least seven times the peak of FP32, rather than twice.
[[nodiscard]] bool has_fast_tf32(const Trace& trace, std::int32_t device);

}  // namespace ridgeline::trace
