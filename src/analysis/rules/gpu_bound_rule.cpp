// SPDX-License-Identifier: Apache-2.0
// What limits the recommended configuration on the GPU: launches, copies, memory traffic or arithmetic.
#include <algorithm>

#include "analysis/gpu_limits.hpp"
#include "analysis/isolated.hpp"
#include "analysis/messages.hpp"
#include "analysis/model_rate.hpp"
#include "analysis/rules/rule.hpp"

namespace ridgeline::analysis {
namespace {

double intensity_of(const InferenceWork& work) { return work.flops / work.memory_bytes; }

/// Where it is more than 0.
std::optional<double> known(const std::optional<double>& floor_ns) {
  return floor_ns && *floor_ns > 0 ? floor_ns : std::nullopt;
}

/// Of an inference.
std::optional<double> share_of(const std::optional<double>& floor_ns, const GpuLimits& limits) {
  return floor_ns ? std::optional(*floor_ns / limits.inference_ns) : std::nullopt;
}

/// Whether launches cost more than all else, and all else is known. (A busy card does not wait for them.)
bool most_are_launches(const GpuLimits& limits) {
  return !limits.busy && limits.launch_ns && limits.compute_ns && limits.memory_ns && limits.copy_ns &&
         *limits.launch_ns >= std::max({*limits.compute_ns, *limits.memory_ns, *limits.copy_ns});
}

schema::Message launch_title(const GpuLimits& limits, std::int64_t nodes, int trial) {
  if (limits.busy && *limits.busy <= 0.6)
    return messages::launch_bound_waits({.likely = limits.likely, .trial = trial, .share = 1 - *limits.busy});
  if (most_are_launches(limits)) return messages::launch_bound({.likely = limits.likely, .trial = trial});
  return messages::launch_bound_short(
      {.likely = limits.likely, .trial = trial, .each = limits.inference_ns / static_cast<double>(nodes)});
}

schema::Message unclear_title(const GpuLimits& limits, int trial) {
  const bool fusion = !limits.work.as_run;
  if (limits.slow_kernels)
    return messages::slow_kernels({.trial = trial,
                                   .busy = *limits.busy,
                                   .compute = *limits.compute_ns / limits.inference_ns,
                                   .memory = *limits.memory_ns / limits.inference_ns,
                                   .fusion = fusion});
  const auto compute = known(limits.compute_ns);
  const auto memory = known(limits.memory_ns);
  if (!compute && !memory)
    return messages::both_may_limit({.trial = trial, .fusion = fusion, .flop = intensity_of(limits.work)});
  return messages::limit_unclear({.trial = trial,
                                  .compute = share_of(compute, limits),
                                  .memory = share_of(memory, limits),
                                  .fusion = fusion,
                                  .copy = share_of(known(limits.copy_ns), limits),
                                  .pageable = limits.pageable_assumed,
                                  .launch = share_of(known(limits.launch_ns), limits)});
}

schema::Message title_of(const GpuLimits& limits, std::int64_t nodes, int trial) {
  const bool fusion = !limits.work.as_run;
  switch (limits.bound) {
    case GpuBound::copy:
      return messages::copy_bound({.likely = limits.likely, .trial = trial, .share = share_of(limits.copy_ns, limits)});
    case GpuBound::memory:
      return messages::memory_bound({.likely = limits.likely,
                                     .trial = trial,
                                     .share = share_of(limits.memory_ns, limits),
                                     .fusion = fusion,
                                     .flop = intensity_of(limits.work)});
    case GpuBound::compute:
      return messages::compute_bound({.likely = limits.likely,
                                      .trial = trial,
                                      .share = share_of(limits.compute_ns, limits),
                                      .fusion = fusion,
                                      .flop = intensity_of(limits.work)});
    case GpuBound::launch: return launch_title(limits, nodes, trial);
    case GpuBound::unclear: break;
  }
  return unclear_title(limits, trial);
}

schema::Message evidence_of(const GpuLimits& limits, const schema::TuneRun& run, std::int64_t nodes, int concurrency) {
  return messages::gpu_limit_evidence(
      {.inference = limits.inference_ns,
       .in_flight = concurrency > 1 ? std::optional<std::int64_t>(concurrency) : std::nullopt,
       .compute = known(limits.compute_ns),
       .flops = limits.work.flops,
       .type = limits.compute_type,
       .memory = known(limits.memory_ns),
       .traffic = limits.work.memory_bytes,
       .fusion = !limits.work.as_run,
       .copy = known(limits.copy_ns),
       .in_bytes = limits.work.input_bytes,
       .out_bytes = limits.work.output_bytes,
       .pageable = limits.pageable_assumed,
       .launch = known(limits.launch_ns),
       .nodes = nodes,
       .busy = limits.busy,
       .isolated = limits.busy_isolated,
       .distance = limits.distance,
       .of_launches = limits.bound == GpuBound::launch,
       .no_ceilings = !run.gpu_ceilings,
       .no_outputs = run.tensor_location != "device" && !limits.work.outputs_known});
}

bool has_convolutions(const schema::ModelDescription& model) {
  return std::any_of(model.node_counts.begin(), model.node_counts.end(),
                     [](const auto& entry) { return entry.first.find("Conv") != std::string::npos; });
}

schema::Message unclear_advice(const GpuLimits& limits, const schema::TuneRun& run,
                               const schema::Configuration& configuration) {
  if (limits.slow_kernels) {
    const bool fallback = configuration.get_or("cudnn_conv_algo_search", "EXHAUSTIVE").as_text() == "DEFAULT";
    return fallback && has_convolutions(run.model) ? messages::ask_cudnn_for_plan() : messages::profile_kernels();
  }
  if (!limits.compute_ns && !limits.memory_ns) return {};
  const bool fusion_decides = !limits.work.as_run && limits.memory_ns.value_or(0) >= kExplains * limits.inference_ns;
  return fusion_decides && !schema::provider_of(run.provider).compiles_graph ? messages::read_runtime_graph()
                                                                             : messages::profile_host();
}

schema::Message advice_of(const GpuLimits& limits, const schema::TuneRun& run,
                          const schema::Configuration& configuration) {
  switch (limits.bound) {
    case GpuBound::launch:
      return configuration.get_or("enable_cuda_graph", false).as_bool() ? messages::fill_card()
                                                                        : messages::use_cuda_graph();
    case GpuBound::copy:
      if (run.tensor_location != "device" && configuration.get_or("io_binding", "none").as_text() == "none")
        return messages::bind_memory();
      return messages::overlap_copies();
    case GpuBound::memory: return messages::halve_traffic();
    case GpuBound::compute: return limits.compute_type == "FP32" ? messages::use_tf32() : messages::lower_precision();
    case GpuBound::unclear: return unclear_advice(limits, run, configuration);
  }
  return {};
}

}  // namespace

std::vector<Finding> gpu_bound_rule(const Evidence& evidence) {
  if (evidence.chosen == nullptr) return {};
  const auto limits = gpu_limits(evidence.run, *evidence.chosen,
                                 isolated_with(evidence.run, evidence.outcomes, evidence.chosen->trial->configuration));
  if (!limits) return {};
  const auto& trial = *evidence.chosen->trial;
  const auto nodes = dispatched_nodes(evidence.run, trial.configuration);
  return {{FindingKind::limit, title_of(*limits, nodes, trial.id),
           evidence_of(*limits, evidence.run, nodes, evidence.chosen->outcome->measurement->concurrency),
           advice_of(*limits, evidence.run, trial.configuration)}};
}

}  // namespace ridgeline::analysis
