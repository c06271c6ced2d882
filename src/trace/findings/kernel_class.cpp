// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/kernel_class.hpp"

#include <algorithm>
#include <initializer_list>

#include "trace/analysis/range_names.hpp"

namespace ridgeline::trace {
namespace {

bool has_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return name.find(part) != std::string_view::npos; });
}

}  // namespace

bool is_tf32_product(std::string_view name) {
  return has_any(name, {"tf32"}) || (has_any(name, {"tensorop_s1688"}) && !has_any(name, {"f16"}));
}

bool is_strided_copy(std::string_view name) {
  // Between contiguous tensors of one type it is a copy of memory, and no kernel; between types the kernel casts.
  return has_any(name, {"direct_copy_kernel_cuda"}) && has_any(name, {"::elementwise_kernel<"}) &&
         has_any(name, {"gpu_kernel_impl_nocast"});
}

KernelClass kernel_class(std::string_view name) {
  if (is_collective_kernel(name) || has_any(name, {"all_reduce", "cross_device_reduce"}))
    return KernelClass::collective;
  if (has_any(name, {"flash_", "fmha", "attention_kernel", "FlashAttn", "sdpa"})) return KernelClass::attention;
  if (has_any(name, {"nchwToNhwc", "nhwcToNchw", "PaddingToNhwc", "batched_transpose", "transpose_readWrite"}))
    return KernelClass::layout;
  if (has_any(name, {"softmax", "SoftMax", "Softmax"})) return KernelClass::softmax;
  // Products in FP32 on ordinary cores: TF32 says so in its name, or by its shape of a tensor core's operation.
  const bool on_tensor_cores =
      has_any(name, {"tf32", "s1688", "s16816", "tensorop", "h1688", "h16816", "wgmma", "bf16", "f16"});
  if (has_any(name, {"sgemm", "scudnn", "f32f32_f32f32_f32"}) && !on_tensor_cores) return KernelClass::fp32_product;
  if (has_any(name,
              {"gemm", "Gemm", "GEMM", "cutlass", "xmma", "nvjet", "scudnn", "implicit_convolve", "gemv", "wgmma"}))
    return KernelClass::product;
  if (has_any(name, {"elementwise_kernel", "elementwise_kernel_with_index", "CatArrayBatchedCopy"}))
    return KernelClass::elementwise;
  if (has_any(name, {"native::reduce_kernel<"})) return KernelClass::reduction;
  return KernelClass::other;
}

}  // namespace ridgeline::trace
