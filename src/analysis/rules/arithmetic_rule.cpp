// SPDX-License-Identifier: Apache-2.0
// What the winner achieves against the model's arithmetic: floating-point rate, memory traffic, cost of a node. Machine
// peaks are not known here, so the rule speaks of intensity and leaves the roof to the reader.
#include <fmt/format.h>

#include "analysis/gpu_limits.hpp"
#include "analysis/model_rate.hpp"
#include "analysis/rules/rule.hpp"
#include "base/text.hpp"

namespace ridgeline::analysis {
namespace {

/// FLOP a byte: CPUs of the last decade reach their arithmetic peak somewhere between 5 and 20 (Williams, Waterman,
/// Patterson 2009; cores gained vector width about as fast as sockets gained channels).
constexpr double kMemoryBound = 4;
constexpr double kComputeBound = 25;
/// Below this a node's dispatch (schedule, allocate outputs, look up the kernel) is a visible share of its time.
constexpr double kDispatchNs = 3000;

std::string uncounted(const schema::ModelDescription& model) {
  std::int64_t nodes = 0;
  for (const auto& [type, count] : model.uncounted_ops) nodes += count;
  return nodes == 0 ? ""
                    : fmt::format("; {} of {} nodes are of operators whose FLOPs are not known", nodes, model.nodes);
}

std::string nodes_text(const schema::TuneRun& run, const schema::Configuration& configuration, std::int64_t nodes) {
  if (graph_of(run, configuration) != nullptr) return fmt::format("{} nodes that run", nodes);
  return fmt::format("{} nodes of the file{}, of which fusion may have removed some", nodes,
                     nodes == run.model.nodes ? "" : " without its constants");
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
    finding.title =
        intensity >= kComputeBound
            ? fmt::format("Arithmetic is the likely limit: {:.0f} FLOP for every byte moved", intensity)
        : intensity <= kMemoryBound
            ? fmt::format("Memory traffic is the likely limit: only {:.1f} FLOP for every byte moved", intensity)
            : fmt::format("Arithmetic and memory traffic may both limit: {:.0f} FLOP for every byte moved", intensity);
    finding.evidence = fmt::format(
        "{:.3g} GFLOP and {} {} an inference; {:.3g} GFLOP/s and {} {:.3g} GB/s reached in trial {}{}",
        work.flops * 1e-9, work.as_run ? "about" : "up to", base::format_bytes(work.memory_bytes),
        rate.flops_per_s * 1e-9, work.as_run ? "about" : "up to", rate.bytes_per_s * 1e-9, id, uncounted(model));
    if (intensity <= kMemoryBound)
      finding.advice = "A larger batch reuses the weights; smaller element types move fewer bytes";
    if (intensity >= kComputeBound)
      finding.advice = "Beyond settings, only fewer or cheaper operations (quantization, a smaller input) help";
    findings.push_back(std::move(finding));
  }
  const auto& configuration = evidence.chosen->trial->configuration;
  const auto nodes = dispatched_nodes(evidence.run, configuration);
  const double node_ns = nodes > 0 ? summary.median_ns / static_cast<double>(nodes) : 0;
  if (nodes > 0 && node_ns < kDispatchNs)
    findings.push_back({FindingKind::limit,
                        fmt::format("Nodes are tiny: {} each on average, so dispatch is a visible share of the time",
                                    base::format_duration(node_ns)),
                        fmt::format("median {} over {} (trial {})", base::format_duration(summary.median_ns),
                                    nodes_text(evidence.run, configuration, nodes), id),
                        "Fewer threads, a larger batch, or a simplified graph help more than faster kernels"});
  return findings;
}

}  // namespace ridgeline::analysis
