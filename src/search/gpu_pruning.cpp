// SPDX-License-Identifier: Apache-2.0
#include "search/gpu_pruning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "schema/execution_provider.hpp"
#include "search/gpu_rules.hpp"
#include "search/model_facts.hpp"
#include "search/rule_condition.hpp"

namespace ridgeline::search {
namespace {

using schema::ParamDef;
using schema::Value;
using Reason = std::optional<std::string>;
using Provider = schema::ExecutionProvider;
using Model = schema::ModelDescription;

constexpr std::string_view kIdleThreads =
    "the operators run on the GPU: CPU worker threads have next to nothing to do (--set tries it)";
constexpr std::string_view kCpuKernels = "acts on CPU kernels, and the operators run on the GPU (--set tries it)";
constexpr std::string_view kNoTunables =
    "no-op on CUDA: a tunable operator has cuBLAS as its only candidate there (--set tries it)";
constexpr std::string_view kEngineCost = "every value builds the engine anew; --set or --space tries it";
constexpr std::string_view kSequential = "only with execution_mode=parallel, which gains nothing on a GPU";
constexpr std::string_view kSameRewrites =
    "what all adds to it are rewrites for CPU kernels: same as all on a GPU (--set tries it)";

bool has_no_half(const Model& model) { return !uses_type(model, "float16") && !uses_type(model, "bfloat16"); }

/// The first that holds tells. Facts: ONNX Runtime's CUDA provider and measurements on an H200.
constexpr std::array kGpuPrunings{
    PruningRule{.keys = {"use_tf32"},
                .where = {.model = [](const Model& m) { return !uses_type(m, "float"); }},
                .reason = "the model has no fp32 tensors, and TF32 concerns no others"},
    PruningRule{.keys = {"use_tf32"},
                .where = {.compute_capability = {.before = "8.0"}},
                .reason = "this GPU has no TF32: it came with compute capability 8.0"},
    PruningRule{.keys = {"use_tf32"},
                .reason = "an accuracy setting: on is the default, and off was 2.2 times slower on ResNet-50; --set "
                          "tries it"},
    PruningRule{.keys = {"execution_mode"},
                .reason = "the GPU's queue runs operators in order anyway, and parallel mode rules CUDA graphs out"},
    PruningRule{.keys = {"inter_op_num_threads", "inter_op_allow_spinning"}, .reason = kSequential},
    PruningRule{.keys = {"intra_op_allow_spinning", "intra_op_spin_duration_us", "intra_op_spin_backoff_max",
                         "force_spinning_stop", "dynamic_block_base", "intra_op_thread_affinities"},
                .reason = kIdleThreads},
    PruningRule{.keys = {"enable_cpu_mem_arena", "set_denormal_as_zero", "disable_prepacking"}, .reason = kCpuKernels},
    PruningRule{.keys = {"gpu_mem_limit_gb"},
                .reason = "a guard for shared GPUs, not a speed setting: limits of 4 to 120 GB measured alike; --set "
                          "sets one"},
    PruningRule{.keys = {"do_copy_in_default_stream"},
                .reason = "off has documented data races and gained nothing where it was measured; --set tries it"},
    PruningRule{.keys = {"enable_skip_layer_norm_strict_mode"},
                .reason = "an accuracy setting that only slows down; --set tries it"},
    PruningRule{
        .keys = {"enable_cudnn"},
        .reason = "off is what a host without cuDNN would run: some operators are missing then; --set tries it"},
    PruningRule{.keys = {"tunable_op_enable", "tunable_op_tuning_enable", "tunable_op_max_tuning_duration_ms"},
                .reason = kNoTunables},
    PruningRule{.keys = {"disable_specified_optimizers"},
                .where = {.provider_has = &Provider::compiles_graph},
                .reason = "the engine's builder fuses on its own; --set or --space tries it"},
    PruningRule{.keys = {"cudnn_conv_use_max_workspace"},
                .where = {.runtime = {.since = "1.20.0"}},
                .reason = "the cuDNN frontend, in use since 1.20, does not look at it (--set tries it)"},
    // Beside a graph 0.986 to 1.014 times the time in 39 pairs of six models on H200s, but for a few unlucky sessions.
    PruningRule{.keys = {"io_binding"},
                .where = {.compute_capability = {.since = "9.0"},
                          .provider_lacks = &Provider::compiles_graph,
                          .about = data_on_device},
                .reason = "the data stays on the GPU and is bound there; a stream of its own changed nothing (--set "
                          "tries it)"},
    PruningRule{.keys = {"cudnn_conv_algo_search", "cudnn_conv_use_max_workspace", "prefer_nhwc", "fuse_conv_bias",
                         "cudnn_conv1d_pad_to_nc1d"},
                .where = {.model = [](const Model& m) { return !has_convolution(m); }},
                .reason = "the model has no convolution"},
    PruningRule{.keys = {"cudnn_conv1d_pad_to_nc1d"},
                .where = {.model = [](const Model& m) { return m.one_dimensional_convolutions == 0; }},
                .reason = "the model has no one-dimensional convolution"},
    PruningRule{.keys = {"disable_specified_optimizers"},
                .where = {.model = [](const Model& m) { return !(has_any(m, {"MatMul"}) && has_any(m, {"Add"})); }},
                .reason = "the model has no matrix product with a bias after it (--set tries other rewrites)"},
    PruningRule{.keys = {"sdpa_kernel"},
                .where = {.model = [](const Model& m) { return !has_fused_attention(m); }},
                .reason = "the file has no fused attention node (ONNX Runtime may make some: --set tries it)"},
    PruningRule{.keys = {"enable_cuda_graph", "trt_cuda_graph_enable"},
                .where = {.model = [](const Model& m) { return m.has_control_flow; }},
                .reason = "If, Loop or Scan cannot be captured in a CUDA graph"},
    PruningRule{.keys = {"use_ep_level_unified_stream"},
                .where = {.model = [](const Model& m) { return !m.has_control_flow; }},
                .reason = "the graph is one piece (no If, Loop or Scan), so one stream is what it gets anyway"},
    PruningRule{.keys = {"prefer_nhwc"},
                .where = {.cudnn = {.before = "9"}},
                .reason = "channels-last convolutions need cuDNN 9, and {cudnn} is loaded (--set tries it)"},
    PruningRule{.keys = {"fuse_conv_bias"},
                .where = {.cudnn = {.before = "9"},
                          .about = [](const SpaceInput& i) { return !asks_for(i.request, "prefer_nhwc"); }},
                .reason = "only beside prefer_nhwc, which needs cuDNN 9, and {cudnn} is loaded"},
    PruningRule{.keys = {"arena_extend_strategy"},
                .where = {.model = [](const Model& m) { return !shapes_vary(m); },
                          .about = [](const SpaceInput& i) { return !i.memory_is_bounded; }},
                .reason = "every inference has the same input shape, so the arena grows only once"},
    PruningRule{.keys = {"trt_cuda_graph_enable"},
                .where = {.model = shapes_vary},
                .reason = "TensorRT's provider has one graph, for one shape, and the mix has several"},
    PruningRule{
        .keys = {"disable_specified_optimizers"},
        .where = {.model =
                      [](const Model& m) { return has_free_dimensions(m) && !some_free_dimension_is_constant(m); }},
        .reason = "a product whose shape is not known ahead is not fused with its bias (--set tries rewrites)"},
    PruningRule{.keys = {"override_free_dimensions"},
                .where = {.model = [](const Model& m) { return !has_free_dimensions(m); }},
                .reason = "every dimension of the model's inputs is fixed already"},
    PruningRule{
        .keys = {"override_free_dimensions"},
        .where = {.model = [](const Model& m) { return !some_free_dimension_is_constant(m) && shapes_vary(m); }},
        .reason = "each symbolic dimension has several sizes in the shape mix"},
    PruningRule{.keys = {"override_free_dimensions"},
                .where = {.model = [](const Model& m) { return !some_free_dimension_is_constant(m); }},
                .reason = "the symbolic dimensions have no names to fix them by"},
    PruningRule{.keys = {"graph_optimization_level"}, .value = "extended", .reason = kSameRewrites},
    PruningRule{.keys = {"graph_optimization_level"}, .value = "layout", .reason = kSameRewrites},
    PruningRule{.keys = {"graph_optimization_level"},
                .value = "disable_all",
                .reason = "leaves dead nodes and constants in the graph: more kernels to launch than with basic"},
    PruningRule{.keys = {"cudnn_conv_algo_search"},
                .value = "DEFAULT",
                .where = {.runtime = {.since = "1.20.0"}},
                .reason = "takes cuDNN's fallback plan since 1.20: 6.7 times slower on ResNet-50"},
    PruningRule{.keys = {"sdpa_kernel"},
                .value = "1",
                .where = {.model = has_no_half},
                .reason = "flash attention needs 16-bit tensors, and the model has none"},
    PruningRule{.keys = {"sdpa_kernel"},
                .value = "8",
                .where = {.model = has_no_half},
                .reason = "flash attention needs 16-bit tensors, and the model has none"},
    PruningRule{.keys = {"sdpa_kernel"},
                .value = "1",
                .where = {.compute_capability = {.before = "8.0"}},
                .reason = "flash attention needs a GPU of compute capability 8.0 or later"},
};

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
  if (!param.searched && param.key.rfind("trt_", 0) == 0) return std::string(kEngineCost);
  return first_reason(kGpuPrunings, param.key, std::nullopt, input);
}

Reason why_pointless_on_gpu(const ParamDef& param, const Value& value, const SpaceInput& input) {
  return on_gpu(input) ? first_reason(kGpuPrunings, param.key, value.to_text(), input) : std::nullopt;
}

}  // namespace ridgeline::search
