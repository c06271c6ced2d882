// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ridgeline::trace {

/// What a kernel does, by the names that PyTorch, cuBLAS, cuDNN and CUTLASS give.
enum class KernelClass { other, elementwise, reduction, softmax, product, fp32_product, attention, layout, collective };

/// Of a product on tensor cores: whether its input is FP32, taken as TF32.
[[nodiscard]] bool is_tf32_product(std::string_view name);

/// A copy of PyTorch's between tensors of one type and different strides, as .contiguous() of a permuted one makes it.
/// Its class is elementwise.
[[nodiscard]] bool is_strided_copy(std::string_view name);

[[nodiscard]] KernelClass kernel_class(std::string_view name);

}  // namespace ridgeline::trace
