// SPDX-License-Identifier: Apache-2.0
#include "search/pruning.hpp"

#include <algorithm>
#include <array>

#include "search/cpu_budget.hpp"
#include "search/gpu_pruning.hpp"
#include "search/messages.hpp"
#include "search/model_facts.hpp"
#include "search/rule_condition.hpp"
#include "search/values_to_try.hpp"

namespace ridgeline::search {
namespace {

using schema::ParamDef;
using Reason = std::optional<schema::Message>;
using Model = schema::ModelDescription;
using Provider = schema::ExecutionProvider;

constexpr std::int64_t kFewNodes = 8;

bool has_one_core(const SpaceInput& input) { return cpu_budget(input.environment).usable == 1; }
bool has_no_smt(const SpaceInput& input) { return !cpu_budget(input.environment).smt; }

bool has_any_isa(const SpaceInput& input, std::initializer_list<std::string_view> wanted) {
  const auto& isa = input.environment.isa;
  return std::any_of(isa.begin(), isa.end(),
                     [&](const auto& one) { return std::find(wanted.begin(), wanted.end(), one) != wanted.end(); });
}

/// Branches that could run side by side end in a node that joins them, or in an output of their own.
bool is_one_chain(const Model& model) {
  return model.inputs.size() <= 1 && model.outputs.size() <= 1 &&
         !has_any(model, {"Add", "Sum", "Concat", "Mul", "Max", "Min", "Mean", "MatMul", "Where", "If", "Loop", "Sub",
                          "Div", "Gather", "Einsum", "Attention", "MultiHeadAttention"});
}

bool packs_no_weights(const Model& model) {
  return !has_convolution(model) &&
         !has_any(model, {"MatMul", "Gemm", "MatMulInteger", "QLinearMatMul", "LSTM", "GRU", "RNN", "Attention",
                          "DynamicQuantizeMatMul", "MatMulNBits", "QGemm"});
}

bool lacks_bf16(const SpaceInput& input) { return !has_any_isa(input, {"avx512_bf16", "amx_bf16"}); }
bool lacks_fp16(const SpaceInput& input) { return !has_any_isa(input, {"avx512_fp16", "amx_fp16"}); }

bool inputs_are_alike(const SpaceInput& input) {
  const auto& shapes = input.model.shapes;
  return std::all_of(shapes.begin(), shapes.end(), [&](const auto& one) { return one == shapes.front(); });
}

bool is_before_half_autocast_on_cpus(const SpaceInput& input) {
  return schema::in_range(input.runtime.version, {.before = "2.2.0"});
}

constexpr auto kCpu = schema::DeviceKind::cpu;
constexpr auto kGpu = schema::DeviceKind::gpu;

/// The first that holds tells.
constexpr std::array kPrunings{
    PruningRule{.keys = {"intra_op_num_threads", "intra_op_allow_spinning", "intra_op_spin_duration_us",
                         "intra_op_spin_backoff_max", "force_spinning_stop", "dynamic_block_base",
                         "intra_op_thread_affinities", "execution_mode"},
                .where = {.provider_has = &Provider::own_threads},
                .reason = messages::own_threads},
    PruningRule{
        .keys = {"inter_op_num_threads", "inter_op_allow_spinning", "disable_prepacking", "enable_cpu_mem_arena",
                 "enable_mem_pattern", "set_denormal_as_zero", "disable_specified_optimizers"},
        .where = {.provider_has = &Provider::own_threads},
        .reason = messages::own_threads},
    PruningRule{.keys = {"graph_optimization_level"},
                .value = "extended",
                .where = {.provider_has = &Provider::own_threads},
                .reason = messages::left_over_nodes},
    PruningRule{.keys = {"graph_optimization_level"},
                .value = "layout",
                .where = {.provider_has = &Provider::own_threads},
                .reason = messages::left_over_nodes},
    PruningRule{.keys = {"graph_optimization_level"},
                .value = "layout",
                .where = {.runtime = {.before = "1.23.0"}},
                .reason = messages::layout_is_newer},
    PruningRule{.keys = {"openvino_threads", "openvino_num_of_threads"},
                .where = {.about = has_one_core},
                .reason = messages::nothing_to_share},
    PruningRule{
        .keys = {"openvino_hyper_threading"}, .where = {.about = has_no_smt}, .reason = messages::no_smt_to_share},
    PruningRule{.keys = {"openvino_precision"},
                .where = {.about = [](const SpaceInput& i) { return lacks_bf16(i) && lacks_fp16(i); }},
                .reason = messages::openvino_has_f32_only},
    PruningRule{.keys = {"openvino_precision"},
                .value = "bf16",
                .where = {.about = lacks_bf16},
                .reason = messages::no_bf16_here},
    PruningRule{.keys = {"openvino_precision"},
                .value = "f16",
                .where = {.about = lacks_fp16},
                .reason = messages::no_fp16_here},
    PruningRule{.keys = {"openvino_precision"},
                .value = "f32",
                .where = {.provider_lacks = &Provider::plugin},
                .reason = messages::computes_in_f32_anyway},
    PruningRule{.keys = {"torch_precision"},
                .value = "autocast_fp16",
                .where = {.device = kCpu, .about = is_before_half_autocast_on_cpus},
                .reason = messages::autocast_fp16_is_newer},
    PruningRule{.keys = {"torch_precision"},
                .value = "autocast_bf16",
                .where = {.device = kCpu, .about = lacks_bf16},
                .reason = messages::slow_without_bf16},
    PruningRule{.keys = {"torch_precision"},
                .value = "bf16",
                .where = {.device = kCpu, .about = lacks_bf16},
                .reason = messages::slow_without_bf16},
    PruningRule{.keys = {"torch_precision"},
                .value = "autocast_bf16",
                .where = {.compute_capability = {.before = "8.0"}, .device = kGpu},
                .reason = messages::bf16_needs_cc80},
    PruningRule{.keys = {"torch_precision"},
                .value = "bf16",
                .where = {.compute_capability = {.before = "8.0"}, .device = kGpu},
                .reason = messages::bf16_needs_cc80},
    PruningRule{.keys = {"channels_last"},
                .where = {.about = [](const SpaceInput& i) { return i.model.four_dimensional == false; }},
                .reason = messages::no_four_dimensions},
    PruningRule{.keys = {"compile_dynamic"}, .where = {.about = inputs_are_alike}, .reason = messages::inputs_alike},
    PruningRule{.keys = {"openvino_disable_dynamic_shapes"},
                .where = {.model = [](const Model& m) { return !has_free_dimensions(m); }},
                .reason = messages::dimensions_fixed},
    PruningRule{.keys = {"webgpu_layout"},
                .where = {.model = [](const Model& m) { return !has_convolution(m); }},
                .reason = messages::no_convolution},
    PruningRule{.keys = {"intra_op_thread_affinities"},
                .where = {.device = kCpu,
                          .about = [](const SpaceInput& i) { return has_no_smt(i) && i.environment.numa_nodes <= 1; }},
                .reason = messages::cores_all_alike},
    PruningRule{
        .keys = {"intra_op_thread_affinities"},
        .where = {.device = kCpu, .about = [](const SpaceInput& i) { return i.environment.core_siblings.empty(); }},
        .reason = messages::siblings_unknown},
    PruningRule{
        .keys = {"intra_op_allow_spinning", "intra_op_spin_duration_us", "intra_op_spin_backoff_max",
                 "intra_op_thread_affinities", "force_spinning_stop", "dynamic_block_base", "parallel_sessions"},
        .where = {.device = kCpu, .about = has_one_core},
        .reason = messages::nothing_to_share},
    // One thread stays a candidate where there are more cores: the automatic count ignores a CPU quota.
    PruningRule{
        .keys = {"intra_op_num_threads"},
        .where = {.device = kCpu,
                  .about =
                      [](const SpaceInput& i) { return has_one_core(i) && cpu_budget(i.environment).physical <= 1; }},
        .reason = messages::nothing_to_share},
    PruningRule{.keys = {"execution_mode", "inter_op_num_threads", "inter_op_allow_spinning"},
                .where = {.device = kCpu, .about = has_one_core},
                .reason = messages::operators_one_by_one},
    PruningRule{.keys = {"execution_mode", "inter_op_num_threads", "inter_op_allow_spinning"},
                .where = {.device = kCpu, .model = [](const Model& m) { return m.nodes < kFewNodes; }},
                .reason_of = [](const SpaceInput& i) { return messages::few_nodes(i.model.nodes); }},
    PruningRule{.keys = {"execution_mode", "inter_op_num_threads", "inter_op_allow_spinning"},
                .where = {.device = kCpu, .model = is_one_chain},
                .reason = messages::one_chain},
    PruningRule{.keys = {"intra_op_spin_backoff_max"},
                .where = {.device = kCpu, .about = has_no_smt},
                .reason = messages::spinning_slows_nobody},
    PruningRule{
        .keys = {"disable_specified_optimizers"}, .where = {.device = kCpu}, .reason = messages::no_rewrite_known_slow},
    PruningRule{.keys = {"enable_mem_pattern"},
                .where = {.model = [](const Model& m) { return !shapes_vary(m); }},
                .reason = messages::same_shape_memory},
    PruningRule{.keys = {"enable_gelu_approximation"},
                .where = {.model =
                              [](const Model& m) {
                                return !has_any(m, {"Gelu", "BiasGelu", "FastGelu", "Erf"});
                              }},
                .reason = messages::no_gelu},
    PruningRule{.keys = {"set_denormal_as_zero"},
                .where = {.model = [](const Model& m) { return !computes_in_floating_point(m); }},
                .reason = messages::no_floating_point},
    PruningRule{
        .keys = {"disable_prepacking"}, .where = {.model = packs_no_weights}, .reason = messages::packs_no_weights},
    PruningRule{.keys = {"graph_optimization_level"},
                .value = "layout",
                .where = {.model = [](const Model& m) { return !has_convolution(m); }},
                .reason = messages::same_as_extended},
};

}  // namespace

Reason why_impossible(const ParamDef& param, const SpaceInput& input) {
  if (!schema::is_for(param, input.provider)) return messages::no_such_setting(input.provider);
  // A release ignores a key that it does not know without a word, so only the catalogue can tell.
  if (const std::string_view version = input.runtime.version;
      input.runtime.name != "synthetic" && !version.empty() && !is_known_to(param, version))
    return messages::unknown_to_version(
        {.runtime = is_onnxruntime(input) ? "ONNX Runtime" : input.runtime.name,
         .version = input.runtime.version,
         .limit = in_range(version, {.since = param.since}) ? param.before : param.since,
         .replaced = in_range(version, {.since = param.since})});
  if (param.key == "batch_size" && !why_batch_fixed(input).empty())
    return is_code(input.model) ? why_batch_fixed(input) : messages::batch_is_fixed();
  return why_impossible_on_gpu(param, input);
}

Reason why_impossible(const ParamDef& param, const schema::Value& value, const SpaceInput& input) {
  if (const auto rows = input.model.batch_axis_size.value_or(1);
      param.key == "batch_size" && is_code(input.model) && rows > 1 && value == schema::Value(1))
    return messages::batch_is_rows(rows);
  return why_impossible_on_gpu(param, value, input);
}

Reason why_pointless(const ParamDef& param, const SpaceInput& input) {
  if (auto reason = why_pointless_on_gpu(param, input)) return reason;
  if (param.key == "torch_precision") {
    if (!tries_half_precision(input)) return messages::fp32_asked_for();
  } else if (!param.searched) {
    return messages::not_swept();
  }
  const bool about_throughput = param.key == "parallel_sessions" || param.key == "batch_size";
  if (about_throughput && input.objective != schema::Objective::throughput)
    return messages::only_throughput(std::string(base::enum_name(input.objective)));
  if (auto reason = first_reason(kPrunings, param.key, std::nullopt, input)) return reason;
  if (values_to_try(param, input).empty()) return messages::only_the_default();
  return std::nullopt;
}

Reason why_pointless(const ParamDef& param, const schema::Value& value, const SpaceInput& input) {
  if (auto reason = why_pointless_on_gpu(param, value, input)) return reason;
  return first_reason(kPrunings, param.key, value.to_text(), input);
}

}  // namespace ridgeline::search
