// SPDX-License-Identifier: Apache-2.0
#include "unit/trace/planted_trace.hpp"

namespace ridgeline::trace {
namespace {

/// Kernels of 20 us, queued in time.
class PlantedKernels : public PlantedTrace {
 protected:
  void in_module() {
    module("Net_0", 0, 10'000'000);
    annotation("ProfilerStep#0", 10'000, 10'001);  // the time is that of the kernels
  }
};

TEST_F(PlantedKernels, a_busy_gpu_with_good_kernels_has_no_finding) {
  in_module();
  for (int i = 0; i < 20; ++i) busy({"sm90_xmma_gemm_bf16bf16", "layer_norm_kernel"});
  EXPECT_TRUE(findings().empty());
}

TEST_F(PlantedKernels, chains_of_elementwise_kernels) {
  in_module();
  busy({"gemm", "void at::native::vectorized_elementwise_kernel<4, add>(int)", "vectorized_elementwise_kernel<mul>",
        "unrolled_elementwise_kernel<copy>", "gemm"});
  const auto* finding = find("elementwise-chain");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "1 chain of elementwise kernels, 60.0 µs; fused, about 20.0 µs");
  EXPECT_EQ(finding->saving_ns, 40'000) << "three of 20 us; fused, the longest of them";
  EXPECT_NEAR(finding->saving_share, 0.4, 1e-9) << "of 100 us";
  EXPECT_EQ(finding->module, "Net_0");
  EXPECT_EQ(
      finding->evidence,
      (Evidence{"40.0 µs in Net_0", "1 x vectorized_elementwise_kernel<4, add>: 20.0 µs",
                "1 x vectorized_elementwise_kernel<mul>: 20.0 µs", "1 x unrolled_elementwise_kernel<copy>: 20.0 µs",
                "bytes of intermediate results: not measured; a CSV of Nsight Compute beside the trace has them"}));
  EXPECT_EQ(finding->computed,
            "the chains' time, less that of each one's longest kernel, which a fused kernel takes about");
  expect_code(*finding, {"torch.compile(model)"});

  // 8 MiB read, 4 MiB written by the first; 4 and 4 by the others. Fused, the first one's 12 MiB remain.
  const double mib = 1 << 20;
  kernel_bytes = {mib, 12 * mib, 8 * mib, 8 * mib, mib};
  EXPECT_EQ(find("elementwise-chain")->evidence.back(), "16.0 MiB of intermediate results, measured");
}

TEST_F(PlantedKernels, single_elementwise_kernels_and_those_of_an_optimizer_are_no_chain) {
  annotation("Optimizer.step#AdamW.step", 7000, 10'000'000);
  busy({"gemm", "vectorized_elementwise_kernel<add>", "gemm", "vectorized_elementwise_kernel<mul>", "gemm"});
  busy({"multi_elementwise_kernel", "multi_elementwise_kernel"});
  EXPECT_EQ(find("elementwise-chain"), nullptr);
}

TEST_F(PlantedKernels, an_attention_that_is_not_fused) {
  in_module();
  busy({"gemm", "vectorized_elementwise_kernel<scale>", "softmax_warp_forward", "gemm"});
  kernel_bytes = {1, 1 << 20, 1 << 20, 1};
  const auto* finding = find("unfused-attention");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "1 unfused attention, 40.0 µs between the two GEMMs");
  EXPECT_EQ(finding->saving_ns, 40'000);
  EXPECT_EQ(finding->module, "Net_0");
  EXPECT_EQ(finding->evidence,
            (Evidence{"40.0 µs in Net_0", "1 x vectorized_elementwise_kernel<scale>: 20.0 µs",
                      "1 x softmax_warp_forward: 20.0 µs", "2.00 MiB read and written by them, measured"}));
  EXPECT_NE(finding->computed.find("between the two GEMMs"), std::string::npos);
  expect_code(*finding, {"scaled_dot_product_attention", "attn_implementation=\"sdpa\""});
  EXPECT_EQ(finding->code.find("is_causal"), std::string::npos) << "an encoder attends to all";
}

TEST_F(PlantedKernels, a_fused_attention_and_a_classifier_s_softmax_are_none) {
  busy({"gemm", "flash_fwd_kernel", "gemm", "softmax_warp_forward", "reduce_kernel"});
  EXPECT_EQ(find("unfused-attention"), nullptr);
}

TEST_F(PlantedKernels, products_in_fp32) {
  in_module();
  trace.devices.push_back({0, "NVIDIA A100", 108, "8.0"});
  busy({"ampere_sgemm_128x64_nn", "reduce_kernel"});
  const auto* finding = find("fp32-gemm");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "GEMMs and convolutions in FP32 without tensor cores, 20.0 µs in 1 launch");
  EXPECT_EQ(finding->saving_ns, 10'000) << "half of it";
  EXPECT_EQ(finding->module, "Net_0");
  EXPECT_EQ(finding->evidence, (Evidence{"10.0 µs in Net_0", "1 x ampere_sgemm_128x64_nn: 20.0 µs"}));
  EXPECT_NE(finding->computed.find("half of their time: what TF32 saves"), std::string::npos);
  expect_code(*finding, {"set_float32_matmul_precision", "allow_tf32"});
  EXPECT_EQ(finding->code.find("ONNX"), std::string::npos) << "it is PyTorch that ran";
  trace.devices.front() = {0, "Tesla V100", 80, "7.0"};
  finding = find("fp32-gemm");
  EXPECT_EQ(finding->code.find("tf32"), std::string::npos) << "it has none";
  expect_code(*finding, {"torch.float16"});
  trace.ranges = {};  // nothing tells what ran
  expect_code(*find("fp32-gemm"), {"torch.float16", "convert_float_to_float16"});
}

TEST_F(PlantedKernels, products_on_tensor_cores_are_none_in_fp32) {
  busy({"sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n", "ampere_bf16_s16816gemm_bf16_128x64", "nvjet_tst_192x192"});
  EXPECT_EQ(find("fp32-gemm"), nullptr);
}

TEST_F(PlantedKernels, layouts) {
  in_module();
  busy({"void cudnn::ops::nchwToNhwcKernel<float>(int)", "cutlass_tensorop",
        "void cudnn::ops::nhwcToNchwKernel<float>(int)"});
  kernel_bytes = {3 << 20, 1, 1 << 20};
  const auto* finding = find("layout");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "kernels that only change the layout of tensors, 40.0 µs in 2 launches");
  EXPECT_EQ(finding->saving_ns, 40'000);
  EXPECT_EQ(finding->module, "Net_0");
  EXPECT_EQ(finding->evidence, (Evidence{"40.0 µs in Net_0", "1 x cudnn::ops::nchwToNhwcKernel<float>: 20.0 µs",
                                         "1 x cudnn::ops::nhwcToNchwKernel<float>: 20.0 µs",
                                         "4.00 MiB read and written by them, measured"}));
  EXPECT_EQ(finding->computed, "their time");
  expect_code(*finding, {"torch.channels_last"});
}

TEST_F(PlantedKernels, an_optimizer_of_many_kernels) {
  annotation("Optimizer.step#SGD.step", 0, 10'000'000);
  for (int i = 0; i < 100; ++i) launch("multi", 10'000 * i, 10'000 * i + 3000, 10'000 * i + 5000);
  const auto* finding = find("tiny-optimizer-kernels");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "Optimizer.step#SGD.step launches 100 kernels a step, 2.00 µs each in the mean");
  EXPECT_EQ(finding->saving_ns, 99 * 8000) << "from 5 us to 13 us";
  EXPECT_EQ(finding->module, "Optimizer.step#SGD.step");
  EXPECT_EQ(finding->evidence, (Evidence{"100 kernels in 1 step", "99 gaps before them, 792 µs"}));
  EXPECT_NE(finding->computed.find("the gaps before these kernels"), std::string::npos);
  expect_code(*finding, {"torch.optim.SGD(", "fused=True"});
  trace.ranges.name.front() = trace.strings.id("Optimizer.step#Shampoo.step");
  expect_code(*find("tiny-optimizer-kernels"), {"with Shampoo", "torch.compile(optimizer.step"});
}

TEST_F(PlantedKernels, an_optimizer_of_few_kernels_or_long_ones_is_fine) {
  annotation("Optimizer.step#AdamW.step", 0, 10'000'000);
  for (int i = 0; i < 20; ++i) launch("fused", 10'000 * i, 10'000 * i + 3000, 10'000 * i + 5000);
  EXPECT_EQ(find("tiny-optimizer-kernels"), nullptr);
  for (int i = 20; i < 100; ++i) launch("large", 40'000 * i, 40'000 * i + 3000, 40'000 * i + 38'000);
  EXPECT_EQ(find("tiny-optimizer-kernels"), nullptr);
}

TEST_F(PlantedKernels, communication_that_nothing_hides) {
  in_module();
  busy({"gemm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"});
  const auto* finding = find("exposed-communication");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saving_ns, 20'000);
  EXPECT_EQ(finding->evidence, (Evidence{"20.0 µs in Net_0", "1 x ncclDevKernel_AllReduce_Sum_f32_RING_LL: 20.0 µs",
                                         "20.0 µs of 20.0 µs of NCCL run with no other kernel beside them"}));
  expect_code(*finding, {"bucket_cap_mb"});
  kernel("gemm", 30'000, 50'000, 0, 9);  // beside it
  EXPECT_EQ(find("exposed-communication"), nullptr);
}

/// Advice about communication follows the collective and the pass that it is of.
class PlantedCollective : public PlantedTrace {
 protected:
  /// Of 20 us, with nothing beside it, within an operation.
  const schema::ProfileFinding* collective(std::string_view kernel, std::string_view within, bool backward) {
    operation("aten::mm", 0, 2000);
    operation(within, 2000, 8000, 1, backward ? 1 : -1, backward ? 1 : 0);
    called_ = 2500;
    busy({kernel});
    return find("exposed-communication");
  }
  void expect_none(const schema::ProfileFinding& finding, std::initializer_list<std::string_view> words) {
    for (const auto word : words) {
      EXPECT_EQ(finding.code.find(word), std::string::npos) << word;
      EXPECT_EQ(finding.advice.find(word), std::string::npos) << word;
    }
  }
};

TEST_F(PlantedCollective, all_to_all_of_a_forward_pass_has_no_gradients_to_send) {
  annotation("FSDP::pre_forward", 0, 9000);
  const auto* finding = collective("ncclDevKernel_SendRecv", "nccl:all_to_all", false);
  ASSERT_NE(finding, nullptr);
  expect_code(*finding, {"# all-to-all of the forward pass", "all_to_all_single", "async_op=True"});
  expect_none(*finding, {"radient", "bucket", "DistributedDataParallel"});
}

TEST_F(PlantedCollective, gradients_of_data_parallel_training) {
  const auto* finding = collective("ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                                   "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", true);
  ASSERT_NE(finding, nullptr);
  expect_code(*finding, {"# all-reduce of the backward pass", "bucket_cap_mb"});
}

TEST_F(PlantedCollective, sums_of_a_forward_pass_are_no_gradients) {
  const auto* finding = collective("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "c10d::allreduce_", false);
  ASSERT_NE(finding, nullptr);
  expect_code(*finding, {"# all-reduce of the forward pass", "all_reduce(partial, async_op=True)"});
  expect_none(*finding, {"radient", "bucket", "DistributedDataParallel"});
}

TEST_F(PlantedCollective, parameters_of_sharded_training) {
  annotation("FSDP::all_gather", 0, 9000);
  const auto* finding = collective("ncclDevKernel_AllGather_RING_LL", "c10d::_allgather_base_", false);
  ASSERT_NE(finding, nullptr);
  expect_code(*finding, {"# all-gather of the forward pass", "set_modules_to_forward_prefetch"});
  expect_none(*finding, {"bucket", "DistributedDataParallel"});
}

TEST_F(PlantedCollective, sharded_gradients) {
  annotation("FSDP::post_backward_reduce", 0, 9000);
  const auto* finding =
      collective("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", "c10d::_reduce_scatter_base_", false);
  ASSERT_NE(finding, nullptr);
  expect_code(*finding, {"# reduce-scatter of the backward pass", "fully_shard(", "reduce_dtype"});
  expect_none(*finding, {"bucket", "DistributedDataParallel"});
}

TEST_F(PlantedKernels, fewer_blocks_than_multiprocessors) {
  in_module();
  trace.devices.push_back({0, "NVIDIA H100", 132, "9.0"});
  busy({"gemm", "gemm"});
  EXPECT_EQ(find("few-blocks"), nullptr) << "1000 blocks each";
  trace.kernels.grid.front() = {33, 1, 1};
  const auto* finding = find("few-blocks");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "fewer blocks than the GPU has multiprocessors, 20.0 µs in 1 launch");
  EXPECT_EQ(finding->saving_ns, 15'000) << "three quarters of its time";
  EXPECT_EQ(finding->module, "Net_0");
  EXPECT_EQ(finding->evidence, (Evidence{"15.0 µs in Net_0", "1 x gemm: 20.0 µs"}));
  EXPECT_NE(finding->computed.find("the share of multiprocessors without a block"), std::string::npos);
  expect_code(*finding, {"batch_size", "torch.cuda.stream"});
}

TEST_F(PlantedKernels, a_last_wave_that_does_not_fill_the_gpu) {
  in_module();
  busy({"gemm", "gemm", "gemm"});
  // One and a quarter: the second wave leaves three quarters of its places free, which are 3/8 of both.
  kernel_waves = {1.25, 2.0, 0.5};
  const auto* finding = find("partial-wave");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "a last wave of blocks that does not fill the GPU, 20.0 µs in 1 launch");
  EXPECT_EQ(finding->saving_ns, 7500) << "3/8 of 20 us";
  EXPECT_EQ(finding->module, "Net_0");
  EXPECT_EQ(finding->evidence, (Evidence{"7.50 µs in Net_0", "1 x gemm: 20.0 µs"}));
  EXPECT_NE(finding->computed.find("at most"), std::string::npos);
  expect_code(*finding, {"max-autotune"});
  kernel_waves = {20.5, 2.0, std::nan("")};
  EXPECT_EQ(find("partial-wave"), nullptr) << "a 42nd of 20 us of 60";
}

}  // namespace
}  // namespace ridgeline::trace
