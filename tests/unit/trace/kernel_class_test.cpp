// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/kernel_class.hpp"

#include <gtest/gtest.h>

namespace ridgeline::trace {
namespace {

TEST(KernelClass, by_the_names_that_libraries_give) {
  EXPECT_EQ(kernel_class("ampere_sgemm_32x128_tn"), KernelClass::fp32_product);
  EXPECT_EQ(kernel_class("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_stage3"), KernelClass::fp32_product);
  EXPECT_EQ(kernel_class("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x16"), KernelClass::product);
  EXPECT_EQ(kernel_class("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN"), KernelClass::product);
  EXPECT_EQ(kernel_class("void pytorch_flash::flash_fwd_kernel<...>"), KernelClass::attention);
  EXPECT_EQ(kernel_class("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"), KernelClass::collective);
  EXPECT_EQ(kernel_class("multimem_all_reduce_kernel<c10::BFloat16, 16>"), KernelClass::collective);
  EXPECT_EQ(kernel_class("void at::native::vectorized_elementwise_kernel<4, ...>"), KernelClass::elementwise);
  EXPECT_EQ(kernel_class("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>"),
            KernelClass::reduction);
  EXPECT_EQ(kernel_class("void cublasLt::splitKreduce_kernel<32, 16>"), KernelClass::other) << "a part of a product";
  EXPECT_EQ(kernel_class("nvjet_sm90_sss_tf32_128x256_TNT"), KernelClass::product);
  EXPECT_EQ(kernel_class("triton_poi_fused_add_relu_0"), KernelClass::other);
}

}  // namespace
}  // namespace ridgeline::trace
