// SPDX-License-Identifier: Apache-2.0
#include "analysis/model_rate.hpp"

#include <algorithm>

#include "analysis/gpu_limits.hpp"

namespace ridgeline::analysis {

ModelRate model_rate(const schema::TuneRun& run, const RankedTrial& ranked) {
  const auto& measured = ranked.outcome->measurement;
  if (!measured || measured->items_per_inference <= 0) return {};
  const auto work = work_of(run, ranked.trial->configuration);
  const double inferences_per_s = ranked.summary.throughput_per_s / measured->items_per_inference;
  return {work.flops * inferences_per_s, work.memory_bytes * inferences_per_s};
}

const schema::RuntimeGraph* graph_of(const schema::TuneRun& run, const schema::Configuration& configuration) {
  const auto at = std::find_if(run.runtime_graphs.begin(), run.runtime_graphs.end(),
                               [&](const auto& graph) { return graph.stands_for(configuration); });
  return at == run.runtime_graphs.end() ? nullptr : &*at;
}

std::int64_t dispatched_nodes(const schema::TuneRun& run, const schema::Configuration& configuration) {
  if (const auto* graph = graph_of(run, configuration)) return graph->nodes;
  const auto& model = run.model;
  const auto constants = model.node_counts.find("Constant");
  return std::max<std::int64_t>(0, model.nodes - (constants == model.node_counts.end() ? 0 : constants->second));
}

}  // namespace ridgeline::analysis
