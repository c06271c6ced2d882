// SPDX-License-Identifier: Apache-2.0
#include "search/pruning.hpp"

#include <algorithm>

#include "search/candidates.hpp"
#include "search/cpu_budget.hpp"
#include "search/gpu_pruning.hpp"
#include "search/model_facts.hpp"

namespace ridgeline::search {
namespace {

using schema::ParamDef;
using Reason = std::optional<std::string>;

/// Branches that could run side by side end in a node that joins them, or in an output of their own.
Reason why_no_branches(const SpaceInput& input) {
  constexpr std::int64_t kFewNodes = 8;
  const auto& model = input.model;
  if (!knows_model(input)) return std::nullopt;
  if (model.nodes < kFewNodes) return fmt::format("the model has {} nodes, too few to run side by side", model.nodes);
  const bool joins = has_any(model, {"Add", "Sum", "Concat", "Mul", "Max", "Min", "Mean", "MatMul", "Where", "If",
                                     "Loop", "Sub", "Div", "Gather", "Einsum", "Attention", "MultiHeadAttention"});
  if (joins || model.inputs.size() > 1 || model.outputs.size() > 1) return std::nullopt;
  return std::string("the model is one chain: no node joins two branches that could run side by side");
}

Reason why_threads_pointless(const ParamDef& param, const SpaceInput& input) {
  const auto cpu = cpu_budget(input.environment);
  const bool about_workers = param.key.rfind("intra_op_", 0) == 0 || param.key == "force_spinning_stop" ||
                             param.key == "dynamic_block_base" || param.key == "parallel_sessions";
  // One thread stays a candidate: the automatic count ignores a CPU quota and may start more.
  const bool counts_threads = param.key == "intra_op_num_threads";
  if (cpu.usable == 1 && about_workers && !(counts_threads && cpu.physical > 1))
    return std::string("one usable core: there is nothing to share among threads");
  if (param.key == "execution_mode" || param.key.rfind("inter_op_", 0) == 0) {
    if (cpu.usable == 1) return std::string("one usable core: operators cannot run side by side");
    return why_no_branches(input);
  }
  if (param.key == "intra_op_spin_backoff_max" && !cpu.smt)
    return std::string("no SMT: spinning slows no sibling thread");
  return std::nullopt;
}

Reason why_affinity_pointless(const SpaceInput& input) {
  const auto cpu = cpu_budget(input.environment);
  if (!cpu.smt && input.environment.numa_nodes <= 1)
    return std::string("one NUMA node and no SMT: every core is as good as the next");
  if (input.environment.core_siblings.empty()) return std::string("which logical CPUs share a core is unknown");
  return std::nullopt;
}

Reason why_model_unaffected(const ParamDef& param, const SpaceInput& input) {
  const auto& model = input.model;
  if (!knows_model(input)) return std::nullopt;
  if (param.key == "enable_mem_pattern" && !shapes_vary(input))
    return std::string("every inference has the same input shape, for which planning memory ahead is right");
  if (param.key == "enable_gelu_approximation" && !has_any(model, {"Gelu", "BiasGelu", "FastGelu", "Erf"}))
    return std::string("the model has no Gelu node");
  if (param.key == "set_denormal_as_zero" && !computes_in_floating_point(model))
    return std::string("the model has no floating-point tensors");
  if (param.key == "disable_prepacking" && !has_convolution(model) &&
      !has_any(model, {"MatMul", "Gemm", "MatMulInteger", "QLinearMatMul", "LSTM", "GRU", "RNN", "Attention",
                       "DynamicQuantizeMatMul", "MatMulNBits", "QGemm"}))
    return std::string("no node of the model packs its weights");
  return std::nullopt;
}

}  // namespace

Reason why_impossible(const ParamDef& param, const SpaceInput& input) {
  if (!param.providers.empty() &&
      std::find(param.providers.begin(), param.providers.end(), input.provider) == param.providers.end())
    return fmt::format("provider {} has no such setting", input.provider);
  if (!param.since.empty() && !runs_since(input, param.since))
    return fmt::format("unknown to this version: ONNX Runtime {} is loaded, {} is needed", input.runtime.version,
                       param.since);
  // Session setters are functions of the C API; only string keys can be looked for in the library.
  const bool has_string_key =
      param.scope == schema::ParamScope::session_config || param.scope == schema::ParamScope::provider_option;
  const auto& known = input.runtime.known_targets;
  if (has_string_key && !known.empty() && std::find(known.begin(), known.end(), param.target) == known.end())
    return fmt::format("unknown to this version: the loaded library has no key {}", param.target);
  if (param.key == "batch_size" && knows_model(input) && !input.model.batch_is_dynamic)
    return std::string("the model's batch dimension is fixed or not recognised");
  return why_impossible_on_gpu(param, input);
}

Reason why_impossible(const ParamDef& param, const schema::Value& value, const SpaceInput& input) {
  return why_impossible_on_gpu(param, value, input);
}

Reason why_pointless(const ParamDef& param, const SpaceInput& input) {
  if (auto reason = why_pointless_on_gpu(param, input)) return reason;
  if (!param.searched) return std::string("not swept by itself; --set or --space tries it");
  const bool about_throughput = param.key == "parallel_sessions" || param.key == "batch_size";
  if (about_throughput && input.objective != schema::Objective::throughput)
    return fmt::format("objective {}: one inference at a time is timed, and this only raises throughput",
                       base::enum_name(input.objective));
  if (!on_gpu(input)) {
    if (param.key == "intra_op_thread_affinities")
      if (auto reason = why_affinity_pointless(input)) return reason;
    if (auto reason = why_threads_pointless(param, input)) return reason;
    if (param.key == "disable_specified_optimizers")
      return std::string("no rewrite is known to lose time on a CPU; --set or --space tries one");
  }
  if (auto reason = why_model_unaffected(param, input)) return reason;
  if (candidates(param, input).empty()) return std::string("no value but the default makes sense on this machine");
  return std::nullopt;
}

Reason why_pointless(const ParamDef& param, const schema::Value& value, const SpaceInput& input) {
  if (auto reason = why_pointless_on_gpu(param, value, input)) return reason;
  if (param.key == "graph_optimization_level" && value == schema::Value("layout") && knows_model(input) &&
      !has_convolution(input.model))
    return std::string("same as extended for a model without convolutions");
  return std::nullopt;
}

}  // namespace ridgeline::search
