// SPDX-License-Identifier: Apache-2.0
// The programs of tests/tools/planted_defects.py as a recorder would see them on an H200, with kernels named as
// PyTorch, cuBLAS and cuDNN name them. What the fix of a defect saves follows from running the fixed program.
#include <cstdlib>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "unit/trace/recorded_program.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::string_view kGemm = "nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNT";
constexpr std::string_view kTf32Gemm = "nvjet_sm90_sss_tf32_128x256_TNT";
constexpr std::string_view kFp32Gemm = "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_tn_align1>(T::Params)";
constexpr std::string_view kBatchedGemm = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nn_n_tilesize128x128x64_cublas";
constexpr std::string_view kFlash = "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64>>";
constexpr std::string_view kLayerNorm = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<bf16>";
constexpr std::string_view kConv = "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize64x64x64";
constexpr std::string_view kReduce = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, MeanOps>>(T)";

std::string elementwise(std::string_view what) {
  return "void at::native::vectorized_elementwise_kernel<8, at::native::" + std::string(what) + ", std::array>(int)";
}

/// Three layers, four steps, within the range that planted_defects.py has around what it measures.
class PlantedProgram : public RecordedProgram {
 public:
  // ---- twelve defects

  void elementwise_chain(bool fixed) {
    infer([&](const std::string& layer) {
      linear(layer + ".up");
      in_module_of(layer + ".act (TanhGelu)", [&] {
        if (fixed) return move(elementwise("GeluCUDAKernelImpl"), 536);
        for (const auto* what : {"pow_tensor_scalar", "AUnaryFunctor<Mul>"}) move(elementwise(what), 536);
        move(elementwise("CUDAFunctor_add"), 804);
        for (const auto* what : {"AUnaryFunctor<Mul>", "tanh_kernel_cuda", "CUDAFunctorOnSelf_add"})
          move(elementwise(what), 536);
        move(elementwise("BinaryFunctor<Mul>"), 804);
      });
      linear(layer + ".down");
    });
  }
  void unfused_attention(bool fixed) {
    infer([&](const std::string& layer) {
      in_module_of(layer + ".attention (Attention)", [&] {
        linear(layer + ".attention.qkv", 100'000);
        if (fixed) {
          run(kFlash, 360'000, {16, 16, 8});
        } else {
          run(kBatchedGemm, 280'000, {16, 16, 128});
          move(elementwise("AUnaryFunctor<Mul>"), 2147);
          move("void (anonymous namespace)::softmax_warp_forward<bf16, bf16, float, 11, false, false>", 2147);
          run(kBatchedGemm, 280'000, {132, 1, 1});  // persistent: grids do not tell
        }
        linear(layer + ".attention.projection", 40'000);
      });
      healthy_mlp(layer);
    });
  }
  void layout(bool fixed) {
    infer([&](const std::string& layer) {
      in_module_of(layer + ".conv (Conv2d)", [&] {
        if (!fixed) move("void cudnn::engines_precompiled::nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16>", 103);
        run(kConv, 60'000);
        if (!fixed) move("void cudnn::engines_precompiled::nhwcToNchwKernel<__nv_bfloat16, __nv_bfloat16>", 103);
      });
      in_module_of(layer + ".act (ReLU)", [&] { move(elementwise("launch_clamp_scalar"), 103); });
    });
  }
  void fp32_gemm(bool fixed) {
    infer([&](const std::string& layer) {
      linear(layer + ".up", fixed ? 3'000'000 : 20'000'000, fixed ? kTf32Gemm : kFp32Gemm);
      gelu(layer, 1073);
      linear(layer + ".down", fixed ? 3'000'000 : 20'000'000, fixed ? kTf32Gemm : kFp32Gemm);
    });
  }
  void half_precision(bool fixed) {
    infer([&](const std::string& layer) {
      linear(layer + ".up", fixed ? 1'600'000 : 3'000'000, fixed ? kGemm : kTf32Gemm);
      gelu(layer, fixed ? 536 : 1073);
      linear(layer + ".down", fixed ? 1'600'000 : 3'000'000, fixed ? kGemm : kTf32Gemm);
    });
  }
  void launch_bound(bool fixed) {
    if (fixed) launch_ns = 300;  // of the nodes of a graph
    infer([&](const std::string& layer) {
      for (int i = 0; i < 6; ++i) linear(layer + ".linear" + std::to_string(i), 2500);
      in_module_of(layer + ".norm (LayerNorm)", [&] { move(kLayerNorm, 0.1, {32, 1, 1}); });
    });
  }
  void sync_per_layer(bool fixed) {
    infer([&](const std::string& layer) {
      small_mlp(layer);
      move("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<bool, func_wrapper_t>>(T)", 8);
      if (!fixed) item();
    });
  }
  void pageable_copy(bool fixed) {
    for (int step = 0; step < kSteps; ++step) {
      if (!fixed) upload(true, 154'000'000);  // with pinned memory another stream copies the next batch
      in_module_of("Net", [&] {
        for (int i = 0; i < kLayers; ++i) healthy_mlp("layers." + std::to_string(i));
      });
    }
  }
  void slow_loader(bool fixed) {
    for (int step = 0; step < kSteps; ++step) {
      within("DataLoader next", [&] { host_works(fixed ? 100'000 : 30'000'000); });
      in_module_of("Net", [&] {
        for (int i = 0; i < kLayers; ++i) healthy_mlp("layers." + std::to_string(i));
      });
    }
  }
  void tiny_optimizer(bool fixed) {
    for (int step = 0; step < kSteps; ++step) {
      in_module_of("Net", [&] {
        for (int i = 0; i < kLayers; ++i) linear("layers." + std::to_string(i), 20'000);
      });
      within("(backward)", [&] {
        in_module_of("Net", [&] {
          for (int i = 0; i < 2 * kLayers; ++i) linear("layers." + std::to_string(i / 2), 20'000);
        });
      });
      within("Optimizer.step#AdamW.step", [&] {
        if (fixed) return run("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdam>", 40'000);
        for (int parameter = 0; parameter < 40; ++parameter)
          for (const auto* what : {"AUnaryFunctor<Mul>", "lerp_scalar_kernel", "BUnaryFunctor<Mul>",
                                   "addcmul_cuda_kernel", "sqrt_kernel_cuda", "CUDAFunctorOnSelf_add", "addcdiv"})
            run(elementwise(what), 1800, {16, 1, 1});
      });
    }
  }
  void norm_by_hand(bool fixed) {
    infer([&](const std::string& layer) {
      in_module_of(layer + ".norm (RMSNorm)", [&] {
        if (fixed) return move("void at::native::(anonymous namespace)::vectorized_rms_norm_kernel<bf16>", 134);
        move("void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda, 4>", 201);
        move(elementwise("pow_tensor_scalar_kernel_impl<float, float>"), 268);
        move(kReduce, 134);
        move(elementwise("CUDAFunctorOnSelf_add<float>"), 0.2, {64, 1, 1});
        move(elementwise("rsqrt_kernel_cuda"), 0.2, {64, 1, 1});
        move("void at::native::elementwise_kernel<128, 2, gpu_kernel_impl_nocast<BinaryFunctor<float, Mul>>>", 268);
        move(elementwise("bfloat16_copy_kernel_cuda"), 201);
        move("void at::native::elementwise_kernel<128, 4, gpu_kernel_impl_nocast<BinaryFunctor<bf16, Mul>>>", 134);
      });
      linear(layer + ".up", 100'000);
      gelu(layer, 536);
      linear(layer + ".down", 100'000);
    });
  }
  void few_blocks(bool fixed) {
    infer([&](const std::string& layer) {
      linear(layer + ".conv", 60'000);
      in_module_of(layer + ".norm (GroupNorm)", [&] {
        if (fixed)
          move(kReduce, 33);
        else
          run("void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<c10::BFloat16>", 1'500'000, {4, 1, 1});
        move("void at::native::elementwise_kernel<128, 8, gpu_kernel_impl_nocast<GroupNormKernelImpl>>", 67);
      });
      in_module_of(layer + ".act (PReLU)", [&] { move(elementwise("prelu_kernel"), 67); });
    });
  }

  // ---- six healthy programs

  void replayed_graph() {
    launch_ns = 300;
    infer([&](const std::string& layer) { healthy_mlp(layer); });
  }
  void large_gemms() {
    infer([&](const std::string& layer) { linear(layer, 2'000'000); });
  }
  void sdpa_training() {
    for (int step = 0; step < kSteps; ++step) {
      in_module_of("Net", [&] {
        for (int i = 0; i < kLayers; ++i) fused_block("layers." + std::to_string(i));
      });
      within("(backward)", [&] {
        in_module_of("Net", [&] {
          for (int i = kLayers; i-- > 0;) backward_of_block("layers." + std::to_string(i));
        });
      });
      within("Optimizer.step#AdamW.step", [&] {
        for (int i = 0; i < 4; ++i)
          run("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdam>", 90'000);
      });
    }
  }
  void channels_last_cnn() {
    infer([&](const std::string& layer) {
      in_module_of(layer + " (ConvBlock) [compiled]", [&] {
        run(kConv, 160'000);
        move("triton_poi_fused__native_batch_norm_legit_no_training_relu_0", 103);
      });
    });
  }
  void fed_training() {
    for (int step = 0; step < kSteps; ++step) {
      within("DataLoader next", [&] { host_works(100'000); });
      upload(false, 2'000'000);
      in_module_of("Net", [&] {
        for (int i = 0; i < kLayers; ++i) healthy_mlp("layers." + std::to_string(i));
      });
    }
  }
  void compiled_norms() {
    infer([&](const std::string& layer) {
      in_module_of(layer + " (Block) [compiled]", [&] {
        move("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_1", 201);
        run(kGemm, 400'000);
        move("triton_poi_fused_mul_silu_2", 402);
      });
    });
  }

 private:
  static constexpr int kSteps = 4;
  static constexpr int kLayers = 3;

  /// Calls of one model, whose layers differ in what a defect changes.
  void infer(const std::function<void(const std::string&)>& layer) {
    for (int step = 0; step < kSteps; ++step)
      in_module_of("Net", [&] {
        for (int i = 0; i < kLayers; ++i) layer("layers." + std::to_string(i));
      });
  }
  void linear(const std::string& name, std::int64_t ns = 400'000, std::string_view kernel = kGemm) {
    in_module_of(name + " (Linear)", [&] { run(kernel, ns, {132, 1, 1}); });
  }
  void gelu(const std::string& layer, double megabytes) {
    in_module_of(layer + ".act (GELU)", [&] { move(elementwise("GeluCUDAKernelImpl"), megabytes); });
  }
  void norm(const std::string& layer, double megabytes) {
    in_module_of(layer + ".norm (LayerNorm)", [&] { move(kLayerNorm, megabytes); });
  }
  void healthy_mlp(const std::string& layer) {
    norm(layer, 134);
    linear(layer + ".up");
    gelu(layer, 536);
    linear(layer + ".down");
  }
  void small_mlp(const std::string& layer) {
    norm(layer, 16);
    linear(layer + ".up", 50'000);
    gelu(layer, 67);
    linear(layer + ".down", 50'000);
  }
  void fused_block(const std::string& layer) {
    in_module_of(layer + " (Block)", [&] {
      norm(layer, 134);
      in_module_of(layer + ".attention (Attention)", [&] {
        linear(layer + ".attention.qkv");
        run(kFlash, 360'000, {16, 16, 8});
        linear(layer + ".attention.projection", 150'000);
      });
      move(elementwise("CUDAFunctor_add"), 201);
      healthy_mlp(layer);
      move(elementwise("CUDAFunctor_add"), 201);
    });
  }
  void backward_of_block(const std::string& layer) {
    in_module_of(layer + " (Block)", [&] {
      for (const auto* name : {".down", ".up"}) {
        linear(layer + name);
        linear(layer + name);
        in_module_of(layer + name + " (Linear)", [&] { move(kReduce, 67); });
      }
      move("void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<bf16>", 201);
      move(elementwise("CUDAFunctor_add"), 201);
      in_module_of(layer + ".attention (Attention)", [&] {
        run("void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<T>", 900'000, {16, 16, 8});
      });
    });
  }
};

struct Defect {
  std::string_view name;
  std::string_view rule;
  std::string_view module;  ///< a part of its path
  void (PlantedProgram::*program)(bool fixed);
};
const std::vector<Defect> kDefects{
    {"elementwise_chain", "elementwise-chain", "act (TanhGelu)", &PlantedProgram::elementwise_chain},
    {"unfused_attention", "unfused-attention", "attention (Attention)", &PlantedProgram::unfused_attention},
    {"layout", "layout", "conv (Conv2d)", &PlantedProgram::layout},
    {"fp32_gemm", "fp32-gemm", "(Linear)", &PlantedProgram::fp32_gemm},
    {"half_precision", "half-precision", "(Linear)", &PlantedProgram::half_precision},
    {"launch_bound", "launch-bound", "", &PlantedProgram::launch_bound},
    {"sync", "sync", "Net", &PlantedProgram::sync_per_layer},
    {"pageable_copy", "pageable-copy", "", &PlantedProgram::pageable_copy},
    {"loader", "loader-bound", "DataLoader", &PlantedProgram::slow_loader},
    {"optimizer", "tiny-optimizer-kernels", "Optimizer.step#AdamW.step", &PlantedProgram::tiny_optimizer},
    {"norm_by_hand", "memory-bound", "norm (RMSNorm)", &PlantedProgram::norm_by_hand},
    {"few_blocks", "few-blocks", "norm (GroupNorm)", &PlantedProgram::few_blocks}};

struct Control {
  std::string_view name;
  void (PlantedProgram::*program)();
};
const std::vector<Control> kControls{
    {"replayed_graph", &PlantedProgram::replayed_graph}, {"large_gemms", &PlantedProgram::large_gemms},
    {"sdpa_training", &PlantedProgram::sdpa_training},   {"channels_last_cnn", &PlantedProgram::channels_last_cnn},
    {"fed_training", &PlantedProgram::fed_training},     {"compiled_norms", &PlantedProgram::compiled_norms}};

std::string in_words(const std::vector<schema::ProfileFinding>& found) {
  std::string out;
  for (const auto& one : found)
    out += one.rule() + " at " + one.module + ": " + std::to_string(one.saving_ns) + " ns\n";
  return out;
}

/// Each with and without the bytes of its kernels.
class PlantedDefects : public ::testing::TestWithParam<bool> {};

TEST_P(PlantedDefects, are_the_first_finding_and_save_what_the_fix_saves) {
  for (const auto& defect : kDefects) {
    PlantedProgram slow;
    slow.within("measured", [&] { (slow.*defect.program)(false); });
    PlantedProgram fixed;
    fixed.within("measured", [&] { (fixed.*defect.program)(true); });
    const auto found = slow.findings(GetParam());
    SCOPED_TRACE(std::string(defect.name) + ", found:\n" + in_words(found));
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().rule(), defect.rule);
    EXPECT_NE(found.front().module.find(defect.module), std::string::npos);
    const auto saved = static_cast<double>(slow.end_ns() - fixed.end_ns());
    EXPECT_NEAR(static_cast<double>(found.front().saving_ns), saved, 0.3 * saved);
    EXPECT_FALSE(found.front().advice.empty());
  }
}

TEST_P(PlantedDefects, healthy_programs_have_none) {
  for (const auto& control : kControls) {
    PlantedProgram program;
    program.within("measured", [&] { (program.*control.program)(); });
    const auto found = program.findings(GetParam());
    SCOPED_TRACE(std::string(control.name) + ", found:\n" + in_words(found));
    for (const auto& one : found) EXPECT_LT(one.saving_share, 0.05) << one.rule();
  }
}

TEST_P(PlantedDefects, fixed_programs_have_none_of_that_rule) {
  for (const auto& defect : kDefects) {
    PlantedProgram fixed;
    fixed.within("measured", [&] { (fixed.*defect.program)(true); });
    for (const auto& one : fixed.findings(GetParam())) {
      if (one.rule() != defect.rule) continue;
      EXPECT_LT(one.saving_share, 0.05) << defect.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, PlantedDefects, ::testing::Bool(),
                         [](const auto& with_bytes) { return with_bytes.param ? "bytes" : "times"; });

}  // namespace
}  // namespace ridgeline::trace
