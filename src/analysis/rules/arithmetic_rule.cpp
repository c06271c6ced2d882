// SPDX-License-Identifier: Apache-2.0
// What the winner achieves against the model's arithmetic: floating-point rate, memory traffic, cost of a node. Machine
// peaks are not known here, so the rule speaks of intensity and leaves the roof to the reader.
#include "analysis/gpu_limits.hpp"
#include "analysis/messages.hpp"
#include "analysis/model_rate.hpp"
#include "analysis/rules/rule.hpp"

namespace ridgeline::analysis {
namespace {

/// FLOP a byte: CPUs of the last decade reach their arithmetic peak somewhere between 5 and 20 (Williams, Waterman,
/// Patterson 2009; cores gained vector width about as fast as sockets gained channels).
constexpr double kMemoryBound = 4;
constexpr double kComputeBound = 25;
/// Below this a node's dispatch (schedule, allocate outputs, look up the kernel) is a visible share of its time.
constexpr double kDispatchNs = 3000;

/// Nodes of operators whose FLOPs are not known; nullopt: none.
std::optional<std::int64_t> uncounted(const schema::ModelDescription& model) {
  std::int64_t nodes = 0;
  for (const auto& [type, count] : model.uncounted_ops) nodes += count;
  return nodes > 0 ? std::optional(nodes) : std::nullopt;
}

schema::Message intensity_title(double intensity) {
  using Limit = messages::IntensityLimit;
  return messages::intensity({.limit = intensity >= kComputeBound  ? Limit::arithmetic
                                       : intensity <= kMemoryBound ? Limit::memory
                                                                   : Limit::both,
                              .flop = intensity});
}

}  // namespace

std::vector<Finding> arithmetic_rule(const Evidence& evidence) {
  const auto& model = evidence.run.model;
  // A GPU's limits are known better: gpu_bound_rule.
  if (!schema::provider_of(evidence.run.provider).on_cpu() || evidence.chosen == nullptr ||
      evidence.chosen->summary.median_ns <= 0)
    return {};
  const auto& summary = evidence.chosen->summary;
  const int id = evidence.chosen->trial->id;
  std::vector<Finding> findings;
  if (model.flops > 0 && model.min_bytes > 0) {
    const auto work = work_of(evidence.run, evidence.chosen->trial->configuration);
    const auto rate = model_rate(evidence.run, *evidence.chosen);
    const double intensity = work.flops / work.memory_bytes;
    Finding finding;
    finding.kind = FindingKind::limit;
    finding.title = intensity_title(intensity);
    finding.evidence = messages::intensity_evidence({.gflop = work.flops * 1e-9,
                                                     .as_run = work.as_run,
                                                     .bytes = work.memory_bytes,
                                                     .gflop_s = rate.flops_per_s * 1e-9,
                                                     .gb_s = rate.bytes_per_s * 1e-9,
                                                     .trial = id,
                                                     .unknown = uncounted(model),
                                                     .nodes = model.nodes});
    if (intensity <= kMemoryBound) finding.advice = messages::reuse_weights();
    if (intensity >= kComputeBound) finding.advice = messages::fewer_operations();
    findings.push_back(std::move(finding));
  }
  const auto& configuration = evidence.chosen->trial->configuration;
  const auto nodes = dispatched_nodes(evidence.run, configuration);
  const double node_ns = nodes > 0 ? summary.median_ns / static_cast<double>(nodes) : 0;
  if (nodes > 0 && node_ns < kDispatchNs)
    findings.push_back({FindingKind::limit, messages::tiny_nodes(node_ns),
                        messages::tiny_nodes_evidence({.median = summary.median_ns,
                                                       .nodes = nodes,
                                                       .as_run = graph_of(evidence.run, configuration) != nullptr,
                                                       .fewer = nodes != model.nodes,
                                                       .trial = id}),
                        messages::fewer_dispatches()});
  return findings;
}

}  // namespace ridgeline::analysis
