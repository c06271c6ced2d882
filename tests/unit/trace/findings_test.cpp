// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/find_savings.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "trace/analysis/tables.hpp"
#include "trace/findings/kernel_class.hpp"
#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {
namespace {

class SavingsTest : public ::testing::Test, public TraceBuilder {
 protected:
  /// Kernels one behind the other, all queued in time, 20 us each.
  void busy(std::initializer_list<std::string_view> names) {
    for (const auto name : names) {
      launch(name, called_, at_, at_ + 20'000);
      called_ += 1500;
      at_ += 20'000;
    }
  }
  [[nodiscard]] std::vector<schema::ProfileFinding> findings() const {
    const AnalysedTrace analysed(trace);
    return find_savings(analysed, tables_of(analysed));
  }
  [[nodiscard]] const schema::ProfileFinding* find(std::string_view rule) {
    found_ = findings();
    const auto at = std::find_if(found_.begin(), found_.end(), [&](const auto& one) { return one.rule == rule; });
    return at == found_.end() ? nullptr : &*at;
  }
  std::int64_t called_ = 0;
  std::int64_t at_ = 10'000;

 private:
  std::vector<schema::ProfileFinding> found_;
};

TEST_F(SavingsTest, a_busy_gpu_with_good_kernels_has_none) {
  module("Net_0", 0, 1000'000);
  for (int i = 0; i < 20; ++i) busy({"sm90_xmma_gemm_bf16bf16", "layer_norm_kernel"});
  EXPECT_TRUE(findings().empty());
}

TEST_F(SavingsTest, late_launches) {
  for (int i = 0; i < 10; ++i) launch("k", 100'000 * i, 100'000 * i + 5000, 100'000 * i + 25'000);
  const auto* finding = find("launch-bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saving_ns, 9 * 80'000);
  EXPECT_NEAR(finding->saving_share, 720.0 / 920, 1e-6);
  EXPECT_FALSE(finding->code.empty());
}

TEST_F(SavingsTest, gaps_below_three_percent_are_no_finding) {
  for (int i = 0; i < 10; ++i) launch("k", 100'000 * i, 100'000 * i + 2000, 100'000 * i + 100'000);
  EXPECT_EQ(find("launch-bound"), nullptr);
}

TEST_F(SavingsTest, chains_of_elementwise_kernels) {
  module("Net_0", 0, 1000'000);
  busy({"gemm", "vectorized_elementwise_kernel<add>", "vectorized_elementwise_kernel<mul>",
        "unrolled_elementwise_kernel<copy>", "gemm"});
  const auto* finding = find("elementwise-chain");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saving_ns, 40'000) << "three of 20 us, fused about one";
  EXPECT_EQ(finding->module, "Net_0");
}

TEST_F(SavingsTest, an_attention_that_is_not_fused) {
  module("Net_0", 0, 1000'000);
  busy({"gemm", "vectorized_elementwise_kernel<scale>", "softmax_warp_forward", "gemm"});
  const auto* finding = find("unfused-attention");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saving_ns, 40'000);
  EXPECT_NE(finding->code.find("scaled_dot_product_attention"), std::string::npos);
}

TEST_F(SavingsTest, a_classifier_s_softmax_is_no_attention) {
  busy({"gemm", "softmax_warp_forward", "reduce_kernel"});
  EXPECT_EQ(find("unfused-attention"), nullptr);
}

TEST_F(SavingsTest, products_in_fp32) {
  trace.devices.push_back({0, "NVIDIA A100", 108, "8.0"});
  busy({"ampere_sgemm_128x64_nn", "reduce_kernel"});
  ASSERT_NE(find("fp32-gemm"), nullptr);
  EXPECT_EQ(find("fp32-gemm")->saving_ns, 10'000);
  EXPECT_NE(find("fp32-gemm")->code.find("tf32"), std::string::npos);
  trace.devices.front() = {0, "Tesla V100", 80, "7.0"};
  EXPECT_EQ(find("fp32-gemm")->code.find("tf32"), std::string::npos) << "it has none";
}

TEST_F(SavingsTest, layouts) {
  busy({"void cudnn::ops::nchwToNhwcKernel<float>", "cutlass_tensorop", "reduce_kernel"});
  ASSERT_NE(find("layout"), nullptr);
  EXPECT_EQ(find("layout")->saving_ns, 20'000);
}

TEST_F(SavingsTest, copies_from_pageable_memory_that_nothing_hides) {
  busy({"gemm", "gemm"});                                             // until 50,000
  copy("Memcpy HtoD (Pageable -> Device)", 40'000, 80'000, 1 << 20);  // 10 us beside a kernel
  const auto* finding = find("pageable-copy");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saving_ns, 30'000);
  trace.copies.name.front() = trace.strings.id("Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(find("pageable-copy"), nullptr);
  ASSERT_NE(find("exposed-copy"), nullptr);
  trace.copies.name.front() = trace.strings.id("Memcpy DtoD (Device -> Device)");
  EXPECT_EQ(find("exposed-copy"), nullptr);
}

TEST_F(SavingsTest, an_optimizer_of_many_kernels) {
  annotation("Optimizer.step#AdamW.step", 0, 10'000'000);
  for (int i = 0; i < 100; ++i) launch("multi", 10'000 * i, 10'000 * i + 3000, 10'000 * i + 5000);
  const auto* finding = find("tiny-optimizer-kernels");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saving_ns, 99 * 8000);
}

TEST_F(SavingsTest, communication_that_nothing_hides) {
  busy({"gemm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"});
  ASSERT_NE(find("exposed-communication"), nullptr);
  EXPECT_EQ(find("exposed-communication")->saving_ns, 20'000);
  kernel("gemm", 30'000, 50'000, 0, 9);  // beside it
  EXPECT_EQ(find("exposed-communication"), nullptr);
}

TEST_F(SavingsTest, fewer_blocks_than_multiprocessors) {
  trace.devices.push_back({0, "NVIDIA H100", 132, "9.0"});
  busy({"gemm", "gemm"});
  trace.kernels.grid.front() = {33, 1, 1};
  const auto* finding = find("few-blocks");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saving_ns, 15'000) << "three quarters of its time";
}

TEST_F(SavingsTest, nodes_of_a_model) {
  for (std::int64_t run = 0; run < 2; ++run) {
    const auto at = run * 1000;
    annotation("model_run", at, at + 900);
    node("conv", "Conv", at, at + 300);
    node("bn", "BatchNormalization", at + 300, at + 400);
    node("mul", "Mul", at + 400, at + 450);
    node("add", "Add", at + 450, at + 480);
    node("cast", "Cast", at + 480, at + 500);
    node("qk", "MatMul", at + 500, at + 550);
    node("soft", "Softmax", at + 550, at + 600);
    node("av", "MatMul", at + 600, at + 650);
  }
  EXPECT_EQ(find("unfused-normalization")->saving_ns, 200);
  EXPECT_EQ(find("elementwise-chain")->saving_ns, 60);
  EXPECT_EQ(find("layout")->saving_ns, 40);
  EXPECT_EQ(find("unfused-attention")->saving_ns, 100);
  EXPECT_NE(find("layout")->title.find("20 ns a run"), std::string::npos) << find("layout")->title;
}

TEST(KernelClass, by_the_names_that_libraries_give) {
  EXPECT_EQ(kernel_class("ampere_sgemm_32x128_tn"), KernelClass::fp32_product);
  EXPECT_EQ(kernel_class("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_stage3"), KernelClass::fp32_product);
  EXPECT_EQ(kernel_class("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x16"), KernelClass::product);
  EXPECT_EQ(kernel_class("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN"), KernelClass::product);
  EXPECT_EQ(kernel_class("void pytorch_flash::flash_fwd_kernel<...>"), KernelClass::attention);
  EXPECT_EQ(kernel_class("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"), KernelClass::collective);
  EXPECT_EQ(kernel_class("void at::native::vectorized_elementwise_kernel<4, ...>"), KernelClass::elementwise);
  EXPECT_EQ(kernel_class("triton_poi_fused_add_relu_0"), KernelClass::other);
}

}  // namespace
}  // namespace ridgeline::trace
