// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/space.hpp"

#include <algorithm>

#include "search/relevance.hpp"
#include "search/space_builder.hpp"

namespace ridgeline::campaign {

using base::Result;

namespace {

constexpr std::size_t kRunsOfModel = 100;  // the newest are looked at for trials that are known

/// Keeps what the user's file sets but the search does not touch.
search::SpaceRequest with_unsearched_fixed(const search::SpaceRequest& request, const search::SearchSpace& space,
                                           const schema::Configuration& current) {
  auto out = request;
  for (const auto& [key, value] : current.values()) {
    const bool searched = std::any_of(space.dimensions().begin(), space.dimensions().end(),
                                      [&, name = key](const auto& dimension) { return dimension.key == name; });
    if (!searched && !out.fixed.contains(key)) out.fixed.set(key, value);
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<search::Searcher>> build_space(RunContext& context) {
  const auto& request = context.request;
  auto& run = context.result.run;
  search::SpaceInput input{run.provider, run.objective, run.environment, run.model, run.runtime, request.space};
  input.tensor_location = run.tensor_location;
  input.memory_is_bounded = std::any_of(run.constraints.begin(), run.constraints.end(),
                                        [](const auto& constraint) { return constraint.metric == "gpu_memory_gb"; });
  RL_TRY_ASSIGN(auto built, search::build_space(input));
  input.request = with_unsearched_fixed(request.space, built.space, request.current);
  if (input.request.fixed.size() != request.space.fixed.size()) {
    RL_TRY_ASSIGN(built, search::build_space(input));
  }
  context.space = std::move(built.space);
  const auto& space = context.space;
  // What the user has now, without what --set pins: that is part of the answer. A pinned batch is part of the question.
  run.current = request.current;
  if (const auto* batch = space.fixed().find("batch_size")) run.current.set("batch_size", *batch);
  run.current = search::simplify(run.current);
  run.space = space.dimensions();
  run.space_size = space.raw_size();
  run.pruned = std::move(built.pruned);
  if (request.accept_space) RL_TRY(request.accept_space(run.space));

  search::SearcherOptions options;
  options.seed = request.seed;
  options.random_budget = request.random_budget;
  options.min_effect = request.min_effect;
  options.current = run.current;
  options.learned = context.result.learned;
  return search::make_searcher(request.search, space, options);
}

bool has_known_trials(const RunContext& context) {
  if (!context.request.use_store) return false;
  const auto& run = context.result.run;
  const auto runs = context.store.list_runs(kRunsOfModel, schema::TuneRun::kLayout.kind);
  return runs && std::any_of(runs->begin(), runs->end(), [&, name = schema::model_name(run)](const auto& one) {
           return one.trials > 0 && one.line.device == run.device && one.line.subject == name;
         });
}

}  // namespace ridgeline::campaign
