// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/explain.hpp"

#include <algorithm>

#include "analysis/load_curve.hpp"
#include "analysis/ranking.hpp"
#include "campaign/messages.hpp"
#include "campaign/tune/ceilings_cache.hpp"
#include "measure/gpu_plans.hpp"

namespace ridgeline::campaign {

using base::ErrorCode;

namespace {

constexpr double kCeilingsS = 1;    // what the probes of a GPU's ceilings take
constexpr double kExplainedS = 30;  // without --max-time; no longer for what explains the answer only

}  // namespace

void Explainer::look_at_current() {
  read_loaded_libraries();
  if (budget_.has_time_for_graph()) read_graph(result_.run.current);
}

void Explainer::look_at_fastest() {
  if (const auto ranking = analysis::rank(result_.run, result_.outcomes);
      !ranking.empty() && !result_.run.runtime_graphs.empty() && !budget_.is_up(budget_.expected_graph_s(), {}))
    read_graph(ranking.front().trial->configuration);
  measure_ceilings();
}

/// Parts of cuDNN are loaded by the first inference only, so the worker is asked again after it.
void Explainer::read_loaded_libraries() {
  auto& run = result_.run;
  if (!run.on_gpu() || run.trials.empty() || run.trials.back().cached) return;
  auto now = execute::probe(executor_, request_.workload.kind, run.runtime.library_path, 0,
                            {.time_left = budget_.time_to_ask()});
  if (now && now->loaded_libraries.size() > run.runtime.loaded_libraries.size())
    run.runtime.loaded_libraries = std::move(now->loaded_libraries);
}

void Explainer::read_graph(const schema::Configuration& configuration) {
  auto& graphs = result_.run.runtime_graphs;
  if (std::any_of(graphs.begin(), graphs.end(), [&](const auto& graph) { return graph.stands_for(configuration); }))
    return;
  auto graph = execute::runtime_graph(executor_, runner_.spec_for(configuration), budget_.time_to_ask());
  if (graph) {
    graphs.push_back(std::move(*graph));
    return;
  }
  const auto& error = graph.error();
  if (error.code != ErrorCode::unsupported && error.code != ErrorCode::cancelled)
    context_.note(messages::fusion_unknown(base::error_line(error)));
}

void Explainer::measure_ceilings() {
  auto& run = result_.run;
  if (!run.on_gpu()) return;
  const CeilingsCache cache(request_.ceilings_folder);
  // The probes end the worker, which a search without fresh processes still needs.
  if (!request_.fresh_finals || budget_.is_up(kCeilingsS, {})) {
    run.gpu_ceilings = cache.known(run);
    if (!run.gpu_ceilings)
      run.notes.push_back(request_.search == "quick" ? messages::ceilings_not_quick() : messages::ceilings_no_time());
    return;
  }
  const auto found = cache.get(run, [&] {
    observer_.stage("what this GPU reaches");
    return execute::gpu_ceilings(executor_, request_.workload.kind, run.runtime.library_path, budget_.time_to_ask());
  });
  if (found)
    run.gpu_ceilings = *found;
  else if (found.error().code != ErrorCode::cancelled)
    context_.note(messages::ceilings_unknown(base::error_line(found.error())));
}

void Explainer::measure_isolated() {
  auto& run = result_.run;
  if (!run.on_gpu() || !request_.fresh_finals || !run.verdict || run.verdict->decision == schema::Decision::none)
    return;
  const auto& configuration = run.verdict->configuration;
  runner_.ahead().want_program(configuration);
  runner_.ahead().want_again({configuration, run.current});
  const auto has_time = [&](const schema::Configuration& one, double window_s) {
    const double takes_s = budget_.expected_isolated_s(one) + window_s;
    const bool worth_it = budget_.is_limited() || window_s == 0 || budget_.spent_s() + takes_s <= kExplainedS;
    return worth_it && takes_s <= budget_.plannable_s();
  };
  if (analysis::in_flight(configuration) != 1 || !has_time(configuration, 0)) return;
  const bool long_enough = has_time(configuration, measure::kEnergyWindowS);
  if (auto key = runner_.measure_isolated(configuration, long_enough ? measure::kEnergyWindowS : 0,
                                          "the recommended settings"))
    run.verdict->isolated_key = std::move(*key);
  if (configuration == run.current || analysis::in_flight(run.current) != 1 ||
      !has_time(run.current, measure::kEnergyWindowS))
    return;
  if (auto key = runner_.measure_isolated(run.current, measure::kEnergyWindowS, "the current settings"))
    run.verdict->isolated_current_key = std::move(*key);
}

}  // namespace ridgeline::campaign
