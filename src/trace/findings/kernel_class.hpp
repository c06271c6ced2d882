// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ridgeline::trace {

/// What a kernel does, by the names that PyTorch, cuBLAS, cuDNN and CUTLASS give.
enum class KernelClass { other, elementwise, softmax, product, fp32_product, attention, layout, collective };

[[nodiscard]] KernelClass kernel_class(std::string_view name);

}  // namespace ridgeline::trace
