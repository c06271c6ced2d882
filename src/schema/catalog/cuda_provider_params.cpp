// SPDX-License-Identifier: Apache-2.0
// Options of ONNX Runtime's CUDA provider: the option table of the 1.29 and 1.31 libraries without device_id (one
// worker sees one GPU) and the pointers (streams, allocators, default_memory_arena_cfg: see cuda_arena_params.cpp).
#include "schema/catalog.hpp"
#include "schema/catalog/param_rows.hpp"
#include "schema/execution_provider.hpp"

namespace ridgeline::schema {
namespace {

/// A row as the option table has it: our key is ONNX Runtime's name.
ParamDef option(const std::string& key, ParamType type, std::optional<Value> default_value) {
  return provider_row(key, key, {"cuda"}, type, std::move(default_value));
}

void describe(ParamDef& row, std::string summary, std::string when, std::string hazard) {
  row = described(std::move(row), std::move(summary), std::move(when), std::move(hazard));
}

ParamDef flag(const std::string& key, bool default_value, std::string summary, std::string when, std::string hazard) {
  auto row = option(key, ParamType::boolean, default_value);
  describe(row, std::move(summary), std::move(when), std::move(hazard));
  return row;
}

/// The plug-in has it too, with the same default.
ParamDef also_of_plugin(ParamDef row) {
  row.providers = namesake_ids("cuda");
  return row;
}

ParamDef cudnn_conv_algo_search() {
  auto row = option("cudnn_conv_algo_search", ParamType::choice, "EXHAUSTIVE");
  row.choices = {"EXHAUSTIVE", "HEURISTIC", "DEFAULT"};
  describe(
      row,
      "how convolution algorithms are chosen: EXHAUSTIVE and HEURISTIC ask cuDNN for a plan, DEFAULT uses a fallback",
      "convolutions; since 1.20 no mode times candidates, and EXHAUSTIVE is heuristic mode B, HEURISTIC mode A",
      "DEFAULT took 6.7 times as long on ResNet-50; each change of input shape plans every convolution again");
  return also_of_plugin(row);
}

ParamDef gpu_mem_limit_gb() {
  auto row = option("gpu_mem_limit_gb", ParamType::number, std::nullopt);
  row.target = "gpu_mem_limit";
  row.minimum = 0.001;
  row.maximum = 4096;
  row.unit = "GB";
  describe(
      row, "maximum size of ONNX Runtime's GPU memory arena, in GB of 1e9 bytes; unset = no limit",
      "a GPU shared with other processes: a guard, not a speed setting (4, 8, 16 and 120 GB were equally fast)",
      "limits only the arena, not cuDNN, cuBLAS, the CUDA context or graphs; too small a limit ends in out of memory");
  return on_request(row);
}

ParamDef arena_extend_strategy() {
  auto row = option("arena_extend_strategy", ParamType::choice, "kNextPowerOfTwo");
  row.choices = {"kNextPowerOfTwo", "kSameAsRequested"};
  describe(row, "how the GPU memory arena grows: by powers of two, or by the requested size",
           "varying input shapes, or when GPU memory is short",
           "kNextPowerOfTwo can nearly double the peak; kSameAsRequested grows more often");
  return row;
}

ParamDef sdpa_kernel() {
  auto row = option("sdpa_kernel", ParamType::integer, 0);
  row.choices = {1, 2, 8, 16};
  row.minimum = 0;
  row.maximum = 511;
  describe(row,
           "attention kernels allowed, a sum of: 1 flash, 2 memory-efficient, 4 TensorRT fused, 8 cuDNN flash, 16 "
           "math, 32 TensorRT flash, 64 TensorRT cross, 128 TensorRT causal, 256 lean; 0 = automatic",
           "graphs with fused attention nodes (Attention, MultiHeadAttention, GroupQueryAttention)",
           "shapes that a kernel does not support fall back to another one; results differ in the last digits");
  return also_of_plugin(since("1.19.0", row));
}

ParamDef tunable_op_max_tuning_duration_ms() {
  auto row = option("tunable_op_max_tuning_duration_ms", ParamType::integer, 0);
  row.minimum = 0;
  row.maximum = 3600000;
  row.unit = "ms";
  describe(row, "time limit for tuning one operator; 0 = none", "only with tunable_op_tuning_enable",
           "no-op on CUDA: cuBLAS is the only candidate there");
  return on_request(row);
}

}  // namespace

std::vector<ParamDef> cuda_provider_params() {
  return {
      cudnn_conv_algo_search(),
      flag("enable_cuda_graph", false, "capture all kernel launches once and replay them as one",
           "launch-bound models: small batches, many small kernels; measured 1.2 to 1.9 times as fast",
           "needs bound device IO, fixed shapes, sequential mode and every node on the GPU; a refused capture ends the "
           "worker"),
      since("1.20.0",
            also_of_plugin(flag(
                "prefer_nhwc", false, "run convolutions in channels-last layout",
                "convolutional networks on tensor cores: 1.2 to 1.35 times as fast for ResNet-50 networks",
                "operators without such a kernel need transposes around them: slower on vision transformers; needs "
                "cuDNN 9"))),
      since("1.20.0",
            also_of_plugin(
                flag("fuse_conv_bias", false, "fuse convolution, bias and activation into one cuDNN kernel",
                     "convolutions with bias, together with prefer_nhwc",
                     "without prefer_nhwc ONNX Runtime 1.29 computes wrong outputs (NaN in MobileNetV3), so it is only "
                     "searched with prefer_nhwc; kernels are compiled at the first run, which then takes seconds"))),
      sdpa_kernel(),
      flag("cudnn_conv1d_pad_to_nc1d", false,
           "pad [N,C,D] to [N,C,1,D] instead of [N,C,D,1] for one-dimensional "
           "convolutions",
           "one-dimensional convolutions (audio, time series)", "another algorithm is chosen, which may be slower"),
      arena_extend_strategy(),
      also_of_plugin(flag("cudnn_conv_use_max_workspace", true,
                          "let cuDNN use as much scratch memory as a convolution can use",
                          "convolutions before 1.20; the cuDNN frontend of 1.20 and later ignores it",
                          "off saves memory but slows convolutions down, if it has an effect")),
      on_request(also_of_plugin(
          flag("do_copy_in_default_stream", true, "copy on the compute stream",
               "off was meant to overlap copies with compute; no difference measured since the multi-stream "
               "executor",
               "off: documented data races (wrong results); only with the accuracy check"))),
      flag("use_ep_level_unified_stream", false, "one compute stream for the whole provider",
           "graphs that split into many small parts, each on a stream of its own",
           "serialises threads; implied by a user stream and by CUDA graphs"),
      gpu_mem_limit_gb(),
      on_request(since(
          "1.18.0", also_of_plugin(flag(
                        "use_tf32", true, "let fp32 matrix products and convolutions use TF32",
                        "fp32 models on Ampere or later; off only for accuracy (took 2.2 times as long on ResNet-50)",
                        "on: 10 bits of mantissa in products; off may still fall back to TF32 in "
                        "convolutions")))),
      on_request(flag("enable_skip_layer_norm_strict_mode", false, "accumulate SkipLayerNorm in fp32",
                      "accuracy of fp16 transformers", "slower")),
      on_request(since("1.28.0", also_of_plugin(flag("enable_cudnn", true, "use cuDNN; off: the provider's own kernels",
                                                     "trying on a host with cuDNN what a host without it would run",
                                                     "off: operators that only cuDNN provides are missing")))),
      on_request(flag("tunable_op_enable", false, "use tunable operators", "ROCm in earlier versions",
                      "no-op on CUDA: cuBLAS is the only candidate there")),
      on_request(flag("tunable_op_tuning_enable", false, "tune tunable operators at their first run",
                      "only with tunable_op_enable", "no-op on CUDA: cuBLAS is the only candidate there")),
      tunable_op_max_tuning_duration_ms(),
  };
}

}  // namespace ridgeline::schema
