// SPDX-License-Identifier: Apache-2.0
#include "search/gpu_pruning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "schema/execution_provider.hpp"
#include "search/gpu_rules.hpp"
#include "search/model_facts.hpp"

namespace ridgeline::search {
namespace {

using schema::ParamDef;
using schema::Value;
using Reason = std::optional<std::string>;

struct KnownReason {
  std::string_view key;
  std::string_view reason;
};

constexpr std::string_view kIdleThreads =
    "the operators run on the GPU: CPU worker threads have next to nothing to do (--set tries it)";
constexpr std::string_view kCpuKernels = "acts on CPU kernels, and the operators run on the GPU (--set tries it)";
constexpr std::string_view kNoTunables =
    "no-op on CUDA: a tunable operator has cuBLAS as its only candidate there (--set tries it)";
constexpr std::string_view kEngineCost = "every value builds the engine anew; --set or --space tries it";

constexpr std::array kPointless{
    KnownReason{"execution_mode",
                "the GPU's queue runs operators in order anyway, and parallel mode rules CUDA graphs out"},
    KnownReason{"inter_op_num_threads", "only with execution_mode=parallel, which gains nothing on a GPU"},
    KnownReason{"inter_op_allow_spinning", "only with execution_mode=parallel, which gains nothing on a GPU"},
    KnownReason{"intra_op_allow_spinning", kIdleThreads},
    KnownReason{"intra_op_spin_duration_us", kIdleThreads},
    KnownReason{"intra_op_spin_backoff_max", kIdleThreads},
    KnownReason{"force_spinning_stop", kIdleThreads},
    KnownReason{"dynamic_block_base", kIdleThreads},
    KnownReason{"intra_op_thread_affinities", kIdleThreads},
    KnownReason{"enable_cpu_mem_arena", kCpuKernels},
    KnownReason{"set_denormal_as_zero", kCpuKernels},
    KnownReason{"disable_prepacking", kCpuKernels},
    KnownReason{"gpu_mem_limit_gb",
                "a guard for shared GPUs, not a speed setting: limits of 4 to 120 GB measured alike; "
                "--set sets one"},
    KnownReason{"do_copy_in_default_stream",
                "off has documented data races and gained nothing where it was measured; --set tries it"},
    KnownReason{"use_tf32",
                "an accuracy setting: on is the default, and off was 2.2 times slower on ResNet-50; --set tries it"},
    KnownReason{"enable_skip_layer_norm_strict_mode", "an accuracy setting that only slows down; --set tries it"},
    KnownReason{"enable_cudnn",
                "off is what a host without cuDNN would run: some operators are missing then; --set tries it"},
    KnownReason{"tunable_op_enable", kNoTunables},
    KnownReason{"tunable_op_tuning_enable", kNoTunables},
    KnownReason{"tunable_op_max_tuning_duration_ms", kNoTunables},
};

bool is_one_of(std::string_view key, std::initializer_list<std::string_view> keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Reason why_precision_pointless(const ParamDef& param, const SpaceInput& input) {
  if (param.key == "use_tf32" && knows_model(input) && !uses_type(input.model, "float"))
    return std::string("the model has no fp32 tensors, and TF32 concerns no others");
  return std::nullopt;
}

Reason why_gpu_model_unaffected(const ParamDef& param, const SpaceInput& input) {
  const auto& model = input.model;
  if (!knows_model(input)) return std::nullopt;
  const bool about_convolutions = is_one_of(param.key, {"cudnn_conv_algo_search", "cudnn_conv_use_max_workspace",
                                                        "prefer_nhwc", "fuse_conv_bias", "cudnn_conv1d_pad_to_nc1d"});
  if (about_convolutions && !has_convolution(model)) return std::string("the model has no convolution");
  if (param.key == "cudnn_conv1d_pad_to_nc1d" && model.one_dimensional_convolutions == 0)
    return std::string("the model has no one-dimensional convolution");
  if (param.key == "disable_specified_optimizers" && !(has_any(model, {"MatMul"}) && has_any(model, {"Add"})))
    return std::string("the model has no matrix product with a bias after it (--set tries other rewrites)");
  if (param.key == "sdpa_kernel" && !has_fused_attention(model))
    return std::string("the file has no fused attention node (ONNX Runtime may make some: --set tries it)");
  if (is_one_of(param.key, {"enable_cuda_graph", "trt_cuda_graph_enable"}) && model.has_control_flow)
    return std::string("If, Loop or Scan cannot be captured in a CUDA graph");
  if (param.key == "use_ep_level_unified_stream" && !model.has_control_flow)
    return std::string("the graph is one piece (no If, Loop or Scan), so one stream is what it gets anyway");
  return std::nullopt;
}

Reason why_shapes_make_it_pointless(const ParamDef& param, const SpaceInput& input) {
  if (!knows_model(input)) return std::nullopt;
  if (param.key == "arena_extend_strategy" && !shapes_vary(input) && !input.memory_is_bounded)
    return std::string("every inference has the same input shape, so the arena grows only once");
  if (param.key == "trt_cuda_graph_enable" && shapes_vary(input))
    return std::string("TensorRT's provider has one graph, for one shape, and the mix has several");
  const bool none_can_be_fixed = has_free_dimensions(input.model) && !some_free_dimension_is_constant(input.model);
  if (param.key == "disable_specified_optimizers" && none_can_be_fixed)
    return std::string("a product whose shape is not known ahead is not fused with its bias (--set tries rewrites)");
  if (param.key != "override_free_dimensions") return std::nullopt;
  if (!has_free_dimensions(input.model)) return std::string("every dimension of the model's inputs is fixed already");
  if (!some_free_dimension_is_constant(input.model))
    return std::string(shapes_vary(input) ? "each symbolic dimension has several sizes in the shape mix"
                                          : "the symbolic dimensions have no names to fix them by");
  return std::nullopt;
}

/// "9.19.0"; "": the runtime does not say.
std::string cudnn_version(const SpaceInput& input) {
  const auto libraries = input.runtime.provider_libraries.find(input.provider);
  if (libraries == input.runtime.provider_libraries.end()) return {};
  const auto version = libraries->second.find("libcudnn.so");
  return version == libraries->second.end() ? std::string() : version->second;
}

Reason why_channels_last_lacks_cudnn(const ParamDef& param, const SpaceInput& input) {
  constexpr int kFirst = 9;
  const auto version = cudnn_version(input);
  const int major = std::atoi(version.c_str());
  if (major == 0 || major >= kFirst) return std::nullopt;
  if (param.key == "prefer_nhwc")
    return fmt::format("channels-last convolutions need cuDNN {}, and {} is loaded (--set tries it)", kFirst, version);
  if (param.key == "fuse_conv_bias" && !asks_for(input.request, "prefer_nhwc"))
    return fmt::format("only beside prefer_nhwc, which needs cuDNN {}, and {} is loaded", kFirst, version);
  return std::nullopt;
}

/// Whether some configuration has the flag on.
bool may_be_on(const SpaceRequest& request, const std::string& key) {
  return request.fixed.get_or(key, false).as_bool() ||
         std::any_of(request.values.begin(), request.values.end(), [&](const auto& dimension) {
           const auto& values = dimension.values;
           return dimension.key == key && std::find(values.begin(), values.end(), Value(true)) != values.end();
         });
}

/// A node whose outputs are as large as its data says: free dimensions within a model whose inputs have none.
bool has_sizes_from_data(const schema::ModelDescription& model) {
  return model.has_control_flow || has_any(model, {"NonZero", "NonMaxSuppression", "Compress", "Unique"});
}

}  // namespace

Reason why_impossible_on_gpu(const ParamDef& param, const SpaceInput& input) {
  const auto is_profile = [&](const char* key) { return param.key == key; };
  if (std::none_of(kTrtProfiles.begin(), kTrtProfiles.end(), is_profile)) return std::nullopt;
  if (knows_model(input) && !has_free_dimensions(input.model) && !has_sizes_from_data(input.model))
    return std::string("without effect: every dimension of the model's inputs is fixed already");
  std::vector<std::string> missing;
  for (const auto* key : kTrtProfiles)
    if (!asks_for(input.request, key)) missing.emplace_back(key);
  if (missing.empty() || !asks_for(input.request, param.key)) return std::nullopt;
  return fmt::format("ONNX Runtime ignores it without {}", fmt::join(missing, " and "));
}

Reason why_impossible_on_gpu(const ParamDef& param, const Value& value, const SpaceInput& input) {
  if (param.key != "gpu_mem_limit_gb" || !schema::provider_of(input.provider).weights_in_arena) return std::nullopt;
  const auto weights = static_cast<double>(input.model.parameter_bytes);
  if (value.as_number() * 1e9 >= weights) return std::nullopt;
  // Neither keeps the weights in the arena that is limited.
  if (may_be_on(input.request, "use_cuda_mempool") || may_be_on(input.request, "use_device_allocator_for_initializers"))
    return std::nullopt;
  // Not always out of memory: ONNX Runtime 1.29 may reserve the weights past the limit, and its arena then has none.
  return fmt::format("less than the model's weights take, {:g} GB, and activations come on top",
                     std::ceil(weights / 1e6) / 1e3);
}

Reason why_pointless_on_gpu(const ParamDef& param, const SpaceInput& input) {
  if (!on_gpu(input)) return std::nullopt;
  if (auto reason = why_precision_pointless(param, input)) return reason;
  for (const auto& known : kPointless)
    if (known.key == param.key) return std::string(known.reason);
  if (!param.searched && param.key.rfind("trt_", 0) == 0) return std::string(kEngineCost);
  if (param.key == "disable_specified_optimizers" && schema::provider_of(input.provider).compiles_graph)
    return std::string("the engine's builder fuses by itself; --set or --space tries it");
  if (param.key == "cudnn_conv_use_max_workspace" && runs_since(input, "1.20.0"))
    return std::string("the cuDNN frontend, in use since 1.20, does not look at it (--set tries it)");
  // Beside a graph 0.986 to 1.014 times the time in 39 pairs of six models on H200s, but for a few unlucky sessions.
  if (param.key == "io_binding" && !schema::provider_of(input.provider).compiles_graph && data_on_device(input))
    return std::string(
        "the data stays on the GPU and is bound there; a stream of its own changed nothing (--set tries it)");
  if (auto reason = why_gpu_model_unaffected(param, input)) return reason;
  if (auto reason = why_channels_last_lacks_cudnn(param, input)) return reason;
  return why_shapes_make_it_pointless(param, input);
}

Reason why_pointless_on_gpu(const ParamDef& param, const Value& value, const SpaceInput& input) {
  if (!on_gpu(input)) return std::nullopt;
  const auto text = value.to_text();
  if (param.key == "graph_optimization_level" && (text == "extended" || text == "layout"))
    return std::string("what all adds to it are rewrites for CPU kernels: same as all on a GPU (--set tries it)");
  if (param.key == "graph_optimization_level" && text == "disable_all")
    return std::string("leaves dead nodes and constants in the graph: more kernels to launch than with basic");
  if (param.key == "cudnn_conv_algo_search" && text == "DEFAULT" && runs_since(input, "1.20.0"))
    return std::string("takes cuDNN's fallback plan since 1.20: 6.7 times slower on ResNet-50");
  const bool half_only = param.key == "sdpa_kernel" && (text == "1" || text == "8");
  if (half_only && knows_model(input) && !uses_type(input.model, "float16") && !uses_type(input.model, "bfloat16"))
    return std::string("flash attention needs 16-bit tensors, and the model has none");
  return std::nullopt;
}

}  // namespace ridgeline::search
