// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

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
  /// A kernel that an operation launched; of what shape, where that was recorded.
  void within(std::string_view operation_name, std::string_view kernel_name,
              std::optional<ProductShape> shape = std::nullopt) {
    operation(operation_name, called_, called_ + 1400);
    if (shape) trace.product_shapes[{trace.ranges.lane.back(), called_}] = *shape;
    busy({kernel_name});
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
                "bytes of intermediate results: not measured; a CSV file of Nsight Compute together with the trace "
                "provides them"}));
  EXPECT_EQ(finding->computed,
            "the chains' time, minus that of the longest kernel of each, or of an operation that it repeats for many "
            "tensors, which is about what a fused kernel takes");
  expect_code(*finding, {"torch.compile(model)"});

  trace.of_recorder = true;
  EXPECT_EQ(find("elementwise-chain")->evidence.back(), "bytes of intermediate results: not measured");

  // 8 MiB read, 4 MiB written by the first; 4 and 4 by the others. Fused, the first one's 12 MiB remain.
  const double mib = 1 << 20;
  kernel_bytes = {mib, 12 * mib, 8 * mib, 8 * mib, mib};
  finding = find("elementwise-chain");
  EXPECT_EQ(finding->evidence.back(), "16.0 MiB of intermediate results, measured");
  EXPECT_EQ(finding->saving_ns, std::llround(60'000 * 16.0 / 28));
  EXPECT_EQ(finding->computed, "the bytes of intermediate results, divided by the 489 GB/s that these kernels reach");
}

TEST_F(PlantedKernels, a_finding_names_the_line_that_calls_its_modules_if_there_is_one) {
  const auto blocks = [&](std::string_view second_line) {
    trace = {};
    called_ = 0;
    at_ = 10'000;
    module("Net", 0, 10'000'000);
    annotation("ProfilerStep#0", 10'000, 10'001);
    for (const auto& [block, line] : {std::pair{"0", std::string_view("net.py(57): forward")}, {"1", second_line}}) {
      module(fmt::format("blocks.{} (Block) @ {}", block, line), called_, called_ + 4'400);
      busy({"vectorized_elementwise_kernel<add>", "vectorized_elementwise_kernel<mul>", "unrolled_elementwise_kernel"});
    }
    return find("elementwise-chain");
  };
  const auto* finding = blocks("net.py(57): forward");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->module, "Net/blocks.# (Block)");
  EXPECT_EQ(finding->line, "net.py(57): forward");
  finding = blocks("net.py(60): forward");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->line, "");
}

TEST_F(PlantedKernels, an_operation_in_a_loop_over_tensors_stays_with_each_of_them) {
  in_module();
  for (int i = 0; i < 300; ++i) within("aten::addcmul_", "vectorized_elementwise_kernel");
  EXPECT_EQ(find("elementwise-chain"), nullptr) << "each adds to another parameter";
  for (int i = 0; i < 300; ++i)
    for (const auto* operation : {"aten::mul_", "aten::addcdiv_", "aten::lerp_"})
      within(operation, "vectorized_elementwise_kernel");
  const auto* finding = find("elementwise-chain");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saving_ns, 900 * 20'000) << "of 1200 kernels 300 remain, one for each parameter";
}

TEST_F(PlantedKernels, single_elementwise_kernels_and_those_of_an_optimizer_are_no_chain) {
  annotation("Optimizer.step#AdamW.step", 7000, 10'000'000);
  busy({"gemm", "vectorized_elementwise_kernel<add>", "gemm", "vectorized_elementwise_kernel<mul>", "gemm"});
  busy({"multi_elementwise_kernel", "multi_elementwise_kernel"});
  EXPECT_EQ(find("elementwise-chain"), nullptr);
}

TEST_F(PlantedKernels, an_attention_that_is_not_fused) {
  in_module();
  within("aten::bmm", "gemm");
  within("aten::mul", "vectorized_elementwise_kernel<scale>");
  within("aten::softmax", "softmax_warp_forward");
  within("aten::bmm", "gemm");
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

TEST_F(PlantedKernels, a_softmax_between_products_of_parameters_is_no_attention) {
  in_module();
  for (const auto* product : {"aten::linear", "aten::addmm", "aten::mm"}) {  // the gate of experts, a sampler
    within(product, "gemm");
    within("aten::softmax", "softmax_warp_forward");
    within(product, "gemm");
  }
  EXPECT_EQ(find("unfused-attention"), nullptr);
  busy({"gemm", "softmax_warp_forward", "gemm"});
  EXPECT_EQ(find("unfused-attention"), nullptr) << "nothing says what they multiply";
}

TEST_F(PlantedKernels, grids_with_a_layer_for_each_head_are_those_of_an_attention) {
  in_module();
  busy({"gemm", "softmax_warp_forward", "gemm"});
  trace.kernels.grid.front().z = trace.kernels.grid.back().z = 192;
  EXPECT_NE(find("unfused-attention"), nullptr);
  trace.kernels.grid.back().z = 4;
  EXPECT_EQ(find("unfused-attention"), nullptr) << "a product that is split";
}

TEST_F(PlantedKernels, shapes_that_were_recorded_have_to_be_those_of_an_attention) {
  in_module();
  const auto attend = [&](const ProductShape& one, const ProductShape& other) {
    within("aten::bmm", "gemm", one);
    within("aten::softmax", "softmax_warp_forward");
    within("aten::bmm", "gemm", other);
  };
  attend({16, 128, 64, 256}, {16, 128, 256, 64});
  EXPECT_NE(find("unfused-attention"), nullptr) << "[128, 256] of each";
  trace.product_shapes.rbegin()->second = {16, 128, 64, 256};
  EXPECT_EQ(find("unfused-attention"), nullptr) << "the second does not take what the first makes";
  trace.product_shapes.rbegin()->second = {8, 128, 256, 64};
  EXPECT_EQ(find("unfused-attention"), nullptr) << "of as many heads";
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
  EXPECT_EQ(finding->saving_ns, 16'000) << "four fifths of it";
  EXPECT_EQ(finding->module, "Net_0");
  EXPECT_EQ(finding->evidence, (Evidence{"16.0 µs in Net_0", "1 x ampere_sgemm_128x64_nn: 20.0 µs"}));
  EXPECT_NE(finding->computed.find("TF32 has at least seven times the peak of FP32"), std::string::npos);
  expect_code(*finding, {"set_float32_matmul_precision", "allow_tf32"});
  EXPECT_EQ(finding->code.find("ONNX"), std::string::npos) << "it is PyTorch that ran";
  trace.devices.front().memory_bytes_per_s = 2'000'000'000'000;
  kernel_bytes = {20'000'000, 0};
  EXPECT_EQ(find("fp32-gemm")->saving_ns, 10'000) << "its bytes take 10 us";
  kernel_tensor = {0, 1};
  EXPECT_EQ(find("fp32-gemm")->evidence.back(), "tensor cores work 0.0 % of these kernels' cycles, measured");
  kernel_tensor.front() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(find("fp32-gemm")->evidence.size(), 2U) << "not counted";
  trace.devices.front() = {0, "NVIDIA L40S", 142, "8.9"};
  finding = find("fp32-gemm");
  EXPECT_EQ(finding->saving_ns, 10'000) << "half of it";
  EXPECT_NE(finding->computed.find("half of their time: the minimum that TF32 saves"), std::string::npos);
  trace.devices.front() = {0, "Tesla V100", 80, "7.0"};
  finding = find("fp32-gemm");
  EXPECT_EQ(finding->code.find("tf32"), std::string::npos) << "it has none";
  expect_code(*finding, {"torch.float16"});
  trace.ranges = {};  // nothing tells what ran
  expect_code(*find("fp32-gemm"), {"torch.float16", "convert_float_to_float16"});
  trace.devices.front() = {0, "NVIDIA GeForce RTX 3090", 82, "8.6"};
  finding = find("fp32-gemm");
  EXPECT_EQ(finding->code.find("tf32"), std::string::npos) << "its TF32 is as fast as its FP32";
  expect_code(*finding, {"torch.bfloat16"});
}

TEST_F(PlantedKernels, products_in_fp32_of_a_gpu_that_has_nothing_faster) {
  in_module();
  busy({"maxwell_sgemm_128x64_nn", "reduce_kernel"});
  EXPECT_EQ(find("fp32-gemm"), nullptr) << "nothing tells what GPU it is";
  for (const auto& gpu :
       {Device{0, "NVIDIA GeForce GTX 1080 Ti", 28, "6.1"}, Device{0, "Tesla P100", 56, "6.0"},
        Device{0, "Tesla M40", 24, "5.2"}, Device{0, "AMD Instinct MI300X", 304, "9.4"},
        Device{0, "NVIDIA GeForce GTX 1660 Ti", 24, "7.5"}, Device{0, "NVIDIA T400 4GB", 6, "7.5"},
        Device{0, "NVIDIA GeForce MX450", 14, "7.5"}, Device{0, "", 40, "7.5"}, Device{0, "NVIDIA GB10", 48, "12.1"},
        Device{0, "NVIDIA H100", 132, ""}, Device{1, "NVIDIA H100", 132, "9.0"}}) {
    trace.devices = {gpu};
    EXPECT_EQ(find("fp32-gemm"), nullptr) << gpu.name << " " << gpu.compute_capability;
  }
  for (const auto* name : {"Tesla T4", "Quadro RTX 5000", "TITAN RTX", "GRID T4-16Q"}) {
    trace.devices = {Device{0, name, 40, "7.5"}};
    ASSERT_NE(find("fp32-gemm"), nullptr) << name;
    expect_code(*find("fp32-gemm"), {"torch.float16"});
  }
  for (const auto* name : {"NVIDIA L40", "NVIDIA H20"}) {
    trace.devices = {Device{0, name, 142, "8.9"}};
    EXPECT_EQ(find("fp32-gemm")->code.find("allow_tf32"), std::string::npos) << name;
  }
  trace.devices = {Device{0, "NVIDIA L40S", 142, "8.9"}};
  expect_code(*find("fp32-gemm"), {"allow_tf32"});
  trace.devices = {Device{0, "", 104, "9.0"}};
  EXPECT_NE(find("fp32-gemm"), nullptr);
  call("hipLaunchKernel", 0, 1, 0);
  EXPECT_EQ(find("fp32-gemm"), nullptr) << "gfx90a";
}

TEST_F(PlantedKernels, each_gpu_has_formats_of_its_own) {
  in_module();
  trace.devices = {Device{0, "NVIDIA H100", 132, "9.0"}, Device{1, "Tesla P100", 56, "6.0"}};
  busy({"sgemm", "sgemm"});
  trace.kernels.lane.back() = trace.gpu_lane({1, 1, 1, 7});
  EXPECT_EQ(find("fp32-gemm")->saving_ns, 16'000) << "of the first one alone";
}

TEST_F(PlantedKernels, products_in_fp32_where_tf32_is_allowed_already) {
  in_module();
  trace.devices.push_back({0, "NVIDIA H100", 132, "9.0"});
  within("aten::conv2d", "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32");
  within("aten::mm", "ampere_sgemm_128x64_nn");
  ASSERT_NE(find("fp32-gemm"), nullptr) << "PyTorch allows it to convolutions, but not to products";
  within("aten::mm", "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n");
  EXPECT_EQ(find("fp32-gemm"), nullptr);
}

TEST_F(PlantedKernels, products_with_a_vector_and_those_in_fp64_gain_nothing) {
  in_module();
  trace.devices.push_back({0, "NVIDIA H100", 132, "9.0"});
  within("aten::mv", "void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16>");
  within("aten::mm", "ampere_sgemm_32x32_sliced1x4_tn", ProductShape{0, 1, 4096, 4096});
  within("aten::mm", "volta_dgemm_128x64_nn");
  EXPECT_EQ(find("fp32-gemm"), nullptr);
}

TEST_F(PlantedKernels, products_on_tensor_cores_are_none_in_fp32) {
  busy({"sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n", "ampere_bf16_s16816gemm_bf16_128x64", "nvjet_tst_192x192"});
  EXPECT_EQ(find("fp32-gemm"), nullptr);
}

TEST_F(PlantedKernels, products_in_tf32_that_half_precision_makes_faster) {
  in_module();
  trace.devices.push_back({0, "NVIDIA H100", 132, "9.0"});
  busy({"nvjet_sm90_sss_tf32_128x256_TNT", "layer_norm_kernel"});
  const auto* finding = find("half-precision");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "GEMMs and convolutions of FP32 tensors in TF32, 20.0 µs in 1 launch");
  EXPECT_EQ(finding->saving_ns, 10'000);
  EXPECT_EQ(finding->module, "Net_0");
  EXPECT_NE(finding->computed.find("twice the peak of TF32"), std::string::npos);
  expect_code(*finding, {"torch.autocast", "bfloat16"});
  trace.kernels.name.front() = trace.strings.id("nvjet_sm90_tst_192x192_TNT");
  EXPECT_EQ(find("half-precision"), nullptr);
}

TEST_F(PlantedKernels, a_norm_by_hand_is_memory_bound) {
  in_module();
  busy({"gemm", "vectorized_elementwise_kernel<to float>", "vectorized_elementwise_kernel<pow>",
        "at::native::reduce_kernel<512, mean>", "vectorized_elementwise_kernel<rsqrt>",
        "vectorized_elementwise_kernel<mul>", "gemm"});
  trace.kernels.duration_ns[4] = 2000;  // one value per row
  const auto* finding = find("memory-bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title,
            "1 run of memory-bound kernels that reduce what they have just written, 82.0 µs; fused, about 20.0 µs");
  EXPECT_EQ(finding->saving_ns, 62'000);
  EXPECT_EQ(finding->module, "Net_0");
  EXPECT_NE(finding->computed.find("shortest kernel of each that passes over all of the data"), std::string::npos);
  expect_code(*finding, {"rms_norm", "torch.compile"});
  EXPECT_EQ(find("elementwise-chain"), nullptr) << "its kernels count once";

  // 6, 8, 4, 0 and 4 MiB: fused, 4 MiB remain of 22.
  const double mib = 1 << 20;
  kernel_bytes = {mib, 6 * mib, 8 * mib, 4 * mib, 0, 4 * mib, mib};
  finding = find("memory-bound");
  EXPECT_EQ(finding->saving_ns, std::llround(82'000 * 18.0 / 22));
  EXPECT_EQ(finding->evidence.back(), "18.0 MiB of intermediate results, measured");
  EXPECT_EQ(finding->computed, "the bytes of intermediate results, divided by the 281 GB/s that these kernels reach");
  trace.devices.push_back({0, "NVIDIA H200", 132, "9.0", 4'800'000'000'000});
  EXPECT_EQ(find("memory-bound")->saving_ns, 62'000) << "these kernels do not wait for memory";
}

TEST_F(PlantedKernels, copies_of_permuted_tensors_are_changes_of_layout) {
  in_module();
  constexpr std::string_view kCopy =
      "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
      "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}>>(int)";
  busy({"gemm", kCopy, "gemm"});
  const auto* finding = find("layout");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saving_ns, 20'000);
  expect_code(*finding, {"transpose", "a view"});
  trace.kernels.name[1] =
      trace.strings.id("void at::native::unrolled_elementwise_kernel<direct_copy_kernel_cuda>(int)");
  EXPECT_EQ(find("layout"), nullptr) << "it casts";
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
  EXPECT_EQ(finding->title, "Optimizer.step#SGD.step launches 100 kernels per step, 2.00 µs each on average");
  EXPECT_EQ(finding->saving_ns, 99 * 8000) << "from 5 us to 13 us";
  EXPECT_EQ(finding->module, "Optimizer.step#SGD.step");
  EXPECT_EQ(finding->evidence, (Evidence{"100 kernels in 1 step", "99 gaps between them, 792 µs"}));
  EXPECT_NE(finding->computed.find("the gaps between these kernels"), std::string::npos);
  expect_code(*finding, {"torch.optim.SGD(", "fused=True"});
  trace.ranges.name.front() = trace.strings.id("Optimizer.step#Shampoo.step");
  expect_code(*find("tiny-optimizer-kernels"), {"torch.compile(optimizer.step"});
  for (std::size_t i = 0; i < 30; ++i) trace.kernels.name[i] = trace.strings.id("lerp");
  EXPECT_EQ(find("tiny-optimizer-kernels")->saving_ns, 99 * 8000 + 30 * 2000) << "the longer of two operations remains";
}

TEST_F(PlantedKernels, an_optimizer_has_the_gaps_within_it_and_no_other_finding_has_them) {
  // What the host does before each step of it, 6 ms, is not the optimizer's; nor is what lies between two steps.
  std::int64_t all = 0;
  for (std::int64_t step = 0; step < 3; ++step) {
    const auto t = step * 20'000'000;
    annotation("ProfilerStep#" + std::to_string(step), t, t + 20'000'000);
    launch("gemm", t, t + 5000, t + 6'000'000);
    annotation("Optimizer.step#AdamW.step", t + 12'000'000, t + 14'000'000);
    for (std::int64_t i = 0; i < 100; ++i)
      launch("multi", t + 12'000'000 + 10'000 * i, t + 12'003'000 + 10'000 * i, t + 12'005'000 + 10'000 * i);
    all += 99 * 8000;
  }
  const auto* finding = find("tiny-optimizer-kernels");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saving_ns, all);
  EXPECT_EQ(finding->evidence.back(), "297 gaps between them, 2.38 ms");
  EXPECT_EQ(find("host-work"), nullptr) << "no event shows it";
  std::int64_t sum = all;
  for (const auto& one : findings())
    if (one.rule == "launch-bound") sum += one.saving_ns;
  EXPECT_EQ(sum, all) << "no gap counts twice";
}

TEST_F(PlantedKernels, gaps_of_an_optimizer_are_missing_in_the_launches) {
  annotation("Optimizer.step#SGD.step", 0, 1'000'000);
  for (int i = 0; i < 100; ++i) launch("multi", 10'000 * i, 10'000 * i + 3000, 10'000 * i + 5000);
  for (int i = 100; i < 120; ++i) launch("gemm", 10'000 * i, 10'000 * i + 3000, 10'000 * i + 5000);
  const auto* finding = find("launch-bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saving_ns, 20 * 8000) << "the others'";
  EXPECT_EQ(finding->evidence.back(), "792 µs between the kernels of an optimizer are reported as a separate finding");
}

TEST_F(PlantedKernels, a_wait_within_an_optimizer_is_a_wait) {
  annotation("Optimizer.step#SGD.step", 0, 10'000'000);
  for (int i = 0; i < 100; ++i) launch("multi", 10'000 * i, 10'000 * i + 3000, 10'000 * i + 5000);
  operation("aten::item", 991'000, 1'500'000);
  launch("multi", 1'501'000, 1'504'000, 1'506'000);
  EXPECT_EQ(find("tiny-optimizer-kernels")->saving_ns, 99 * 8000);
  ASSERT_NE(find("sync"), nullptr);
  EXPECT_EQ(find("sync")->saving_ns, 1'504'000 - 995'000);
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
  EXPECT_EQ(finding->evidence,
            (Evidence{"20.0 µs in Net_0", "1 x ncclDevKernel_AllReduce_Sum_f32_RING_LL: 20.0 µs",
                      "20.0 µs of 20.0 µs of communication run with no other kernel at the same time"}));
  expect_code(*finding, {"bucket_cap_mb"});
  kernel("gemm", 30'000, 50'000, 0, 9);  // beside it
  EXPECT_EQ(find("exposed-communication"), nullptr);
}

TEST_F(PlantedKernels, communication_is_known_by_its_name_or_by_what_launched_it) {
  const auto exposed = [&] { return tables_of(AnalysedTrace(trace)).devices.front().exposed_ns; };
  in_module();
  busy({"gemm", "rccl_main_kernel"});
  EXPECT_EQ(exposed(), 20'000);
  within("record_param_comms", "void GenericOp<float>(Work*)");
  within("c10d::allreduce_", "mscclpp_kernel_7");
  within("_c10d_functional::all_reduce", "another_library");
  EXPECT_EQ(exposed(), 80'000);
  within("c10d::_allgather_base_", "void at::native::vectorized_elementwise_kernel<4, copy>");
  operation("c10d::allgather_", called_, called_ + 1400);
  within("aten::copy_", "flatten_kernel");
  within("nccl_tests", "another_kernel");
  within("record_param_comms", "sm90_xmma_gemm_bf16");
  EXPECT_EQ(exposed(), 80'000) << "these prepare what is sent, or have a name of the user's";
}

/// Advice about communication follows the collective and the pass that it is of.
class PlantedCollective : public PlantedTrace {
 protected:
  /// Of 20 us, with nothing beside it, within an operation.
  const FindingInWords* collective(std::string_view kernel, std::string_view within, bool backward) {
    operation("aten::mm", 0, 2000);
    operation(within, 2000, 8000, 1, backward ? 1 : -1, backward ? 1 : 0);
    called_ = 2500;
    busy({kernel});
    return find("exposed-communication");
  }
  void expect_none(const FindingInWords& finding, std::initializer_list<std::string_view> words) {
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

TEST_F(PlantedCollective, a_kernel_for_all_collectives_is_told_by_its_operation) {
  const auto* finding =
      collective("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "nccl:all_to_all", false);
  ASSERT_NE(finding, nullptr);
  expect_code(*finding, {"# all-to-all of the forward pass", "all_to_all_single"});
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

TEST_F(PlantedKernels, kernels_that_overlap_save_no_more_than_the_time_in_which_any_ran) {
  in_module();
  trace.devices.push_back({0, "NVIDIA H100", 132, "9.0"});
  for (int i = 0; i < 200; ++i) kernel("k", 1000 * i, 1000 * i + 100'000, i + 1, 7 + i % 100, {8, 1, 1});
  ASSERT_NE(find("few-blocks"), nullptr);
  for (const auto& finding : findings()) EXPECT_LE(finding.saving_share, 1) << finding.title;
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
