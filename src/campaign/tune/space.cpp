// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/space.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/ranges.h>

#include "campaign/messages.hpp"
#include "campaign/tune/recommendation.hpp"
#include "schema/catalog.hpp"
#include "schema/message_renderer.hpp"
#include "search/candidate_race.hpp"
#include "search/factor.hpp"
#include "search/messages.hpp"
#include "search/pruning.hpp"
#include "search/relevance.hpp"
#include "search/space_builder.hpp"

namespace ridgeline::campaign {

using base::Result;

namespace {

/// What the user has now and a CUDA graph of it, which is captured in a second and mostly the fastest that needs no
/// compiler.
constexpr std::size_t kStartsOfCode = 2;
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

/// Takes out of `current` what config.yaml says to others than what is tuned. Returns the keys by why they are left
/// alone.
std::map<std::string, std::vector<std::string>> drop_foreign(const schema::TuneRun& run,
                                                             const search::SpaceInput& input,
                                                             schema::Configuration& current) {
  std::map<std::string, std::vector<std::string>> left;
  const auto all = current;
  for (const auto& [key, value] : all.values()) {
    auto why = why_left_alone(run, key);
    if (!why && key == "batch_size")
      if (const auto reason = search::why_impossible(*schema::find_param(key), input))
        why = schema::text_of(*reason, search::messages::table());
    if (!why) continue;
    left[*why].push_back(key);
    current.unset(key);
  }
  return left;
}

/// Whether config.yaml names an execution provider of ONNX Runtime that is not the one tuned.
bool names_another_provider(const schema::TuneRun& run) {
  if (run.file_provider.empty()) return false;
  const auto* named = schema::find_provider(run.file_provider);
  if (named == nullptr) named = schema::find_provider_named(run.file_provider);
  const auto& tuned = schema::provider_of(run.provider);
  return named != nullptr && named->engine == tuned.engine && named->library_name != tuned.library_name;
}

/// One line for whoever reads the file: what of it was not looked at.
void note_left_alone(RunContext& context, const std::map<std::string, std::vector<std::string>>& left) {
  const auto& run = context.result.run;
  std::vector<schema::Message> groups;
  for (const auto& [why, keys] : left) groups.push_back(messages::left_group({.keys = keys, .why = why}));
  const bool named = names_another_provider(run);
  if (groups.empty() && !named) return;
  context.note(messages::left_in_file({.file = std::filesystem::path(run.request.config_path).filename().string(),
                                       .named = named ? run.file_provider : "",
                                       .provider = run.provider,
                                       .groups = std::move(groups),
                                       .configuration = run.current.empty() ? "" : run.current.to_text()}));
}

search::SpaceInput space_input(const RunContext& context) {
  const auto& run = context.result.run;
  search::SpaceInput input{run.provider, run.request.objective, run.environment,
                           run.model,    run.runtime,           context.request.space};
  input.tensor_location = run.tensor_location;
  input.precision = context.request.precision;
  input.memory_is_bounded = std::any_of(run.request.constraints.begin(), run.request.constraints.end(),
                                        [](const auto& constraint) { return constraint.metric == "gpu_memory_gb"; });
  return input;
}

/// What the user asks of the space, as far as it concerns that provider.
search::SpaceRequest request_for(search::SpaceRequest request, const std::string& provider) {
  const auto concerns = [&](const std::string& key) {
    const auto* param = schema::find_param(key);
    return param == nullptr || param->providers.empty() || schema::is_for(*param, provider);
  };
  schema::Configuration fixed;
  for (const auto& [key, value] : request.fixed.values())
    if (concerns(key)) fixed.set(key, value);
  request.fixed = std::move(fixed);
  std::erase_if(request.values, [&](const auto& dimension) { return !concerns(dimension.key); });
  std::erase_if(request.asked_by, [&](const auto& asked) { return !concerns(asked.first); });
  return request;
}

/// A searcher for each candidate, that of the current one (`first`) among them.
Result<std::unique_ptr<search::Searcher>> build_race(RunContext& context, std::unique_ptr<search::Searcher> first,
                                                     const search::SearcherOptions& options) {
  auto& run = context.result.run;
  std::vector<search::CandidateRace::Racer> racers;
  racers.push_back({"", std::move(first)});
  if (!run.model.provider.empty() && run.on_gpu()) racers.front().starts = kStartsOfCode;
  for (const auto& candidate : run.candidates) {
    auto input = space_input(context);
    input.provider = candidate.provider;
    input.runtime = candidate.runtime;
    if (const auto found = context.exported.find(candidate.id); found != context.exported.end())
      input.model = found->second;
    input.request = request_for(input.request, candidate.provider);
    RL_TRY_ASSIGN(auto built, search::build_space(input));
    auto own = options;
    own.current = {};
    // Exported models differ by their file alone, so that a trial at the defaults would only tell what a graph gains.
    if (const auto& search = context.request.search; candidate.workload && (search == "adaptive" || search == "quick"))
      own.opening = search::defaults_in_graph(built.space);
    const std::size_t most_starts = own.opening.empty() ? 1 : 2;
    RL_TRY_ASSIGN(auto searcher, search::make_searcher(context.request.search, built.space, own));
    context.spaces.add(candidate.id, std::move(built.space));
    racers.push_back(
        {candidate.id, std::move(searcher), candidate.workload ? candidate.name() : std::string(), most_starts});
  }
  return std::make_unique<search::CandidateRace>(std::move(racers));
}

}  // namespace

Result<std::unique_ptr<search::Searcher>> build_space(RunContext& context) {
  const auto& request = context.request;
  auto& run = context.result.run;
  auto input = space_input(context);
  auto current = request.current;
  auto left = drop_foreign(run, input, current);
  RL_TRY(check_unread(run, request.unread));
  for (const auto& one : request.unread)
    left[*why_left_alone(run, one.key)].push_back(one.text.empty() ? one.key
                                                                   : fmt::format("{} = {}", one.key, one.text));
  for (const auto& [key, origin] : request.current_origins)
    if (current.contains(key)) run.current_origins.push_back(origin);
  RL_TRY_ASSIGN(auto built, search::build_space(input));
  input.request = with_unsearched_fixed(request.space, built.space, current);
  if (input.request.fixed.size() != request.space.fixed.size()) {
    RL_TRY_ASSIGN(built, search::build_space(input));
  }
  context.spaces.add("", std::move(built.space));
  const auto& space = context.spaces.current();
  // What the user has now, without what --set pins: that is part of the answer. A pinned batch is part of the question.
  run.current = std::move(current);
  if (const auto* batch = space.fixed().find("batch_size")) run.current.set("batch_size", *batch);
  run.current = search::simplify(run.current);
  note_left_alone(context, left);
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
  RL_TRY_ASSIGN(auto searcher, search::make_searcher(request.search, space, options));
  if (run.candidates.empty()) return searcher;
  return build_race(context, std::move(searcher), options);
}

std::vector<schema::Configuration> foreseen_trials(const RunContext& context) {
  const auto built = search::build_space(space_input(context));
  if (!built) return {};
  const auto searcher = search::make_searcher(context.request.search, built->space, {});
  return searcher ? (*searcher)->foreseen() : std::vector<schema::Configuration>{};
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
