// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune_campaign.hpp"

#include <algorithm>
#include <limits>

#include "analysis/load_curve.hpp"
#include "analysis/summary.hpp"
#include "base/hash.hpp"
#include "base/version.hpp"
#include "campaign/ceilings_cache.hpp"
#include "campaign/decision_maker.hpp"
#include "campaign/input_checks.hpp"
#include "campaign/provider_choice.hpp"
#include "campaign/run_budget.hpp"
#include "campaign/run_id.hpp"
#include "campaign/search_loop.hpp"
#include "campaign/time_budget.hpp"
#include "campaign/time_forecast.hpp"
#include "campaign/trial_runner.hpp"
#include "host/environment_probe.hpp"
#include "measure/gpu_plans.hpp"
#include "search/relevance.hpp"
#include "search/searcher.hpp"

namespace ridgeline::campaign {

using base::ErrorCode;
using base::Result;

namespace {

constexpr std::size_t kRunsOfModel = 100;  // the newest are looked at for trials that are known
constexpr double kPairShare = 0.25;        // the most for one comparison on a CPU, so that several fit in
constexpr double kPairShareOnGpu = 0.1;    // on a GPU, where duels come before it
constexpr double kWarmUpShare = 0.25;      // of a comparison's time, for each arm
constexpr double kUsualStartS = 4;         // of the runtime, reference outputs included
constexpr double kCeilingsS = 1;           // what the probes of a GPU's ceilings take
constexpr double kEnergyWindowS = 1.2 * schema::GpuTelemetry::kLeastEnergyWindowS;
constexpr double kExplainedS = 30;  // without --max-time; no longer for what explains the answer only

/// A quick search on a GPU has ten seconds: no time for fresh processes, nor for a second pair of sessions, so that a
/// difference of the 2 % by which sessions of one configuration differ may be chance.
void suit_gpu(TuneRequest& request) {
  measure::suit_gpu(request.plan, request.paired);
  if (std::any_of(request.constraints.begin(), request.constraints.end(),
                  [](const auto& constraint) { return constraint.metric == "gpu_energy_mj_per_item"; })) {
    request.plan.min_time_s = std::max(request.plan.min_time_s, kEnergyWindowS);
    request.plan.max_time_s = std::max(request.plan.max_time_s, kEnergyWindowS);
  }
  auto& plan = request.paired;
  request.finalists = std::min<std::size_t>(request.finalists, 2);
  if (request.search != "quick") {
    if (request.max_time)
      plan.max_time_s = std::min(plan.max_time_s, kPairShareOnGpu * base::to_seconds(*request.max_time));
    return;
  }
  plan.quads = std::min(plan.quads, 8);
  plan.max_quads = std::min(plan.max_quads, 12);
  plan.max_time_s = std::min(plan.max_time_s, 1.5);
  plan.rounds = plan.max_rounds = 1;
  request.finalists = 1;
  request.leave_one_out = false;
  request.fresh_finals = false;
  if (!request.max_time) request.max_time = std::chrono::seconds(10);
}

/// The ten seconds of a quick search begin late where the runtime does: an H100 host that read CUDA from its disk for
/// the first time was ready after 6.5 s, and nothing could be tried in what was left.
void allow_for_slow_start(TrialRunner& runner, schema::TuneRun& run, CampaignObserver& observer) {
  const double ready_s = runner.spent_s();
  if (ready_s <= kUsualStartS) return;
  runner.excuse(ready_s - kUsualStartS);
  run.notes.push_back(
      fmt::format("the runtime was ready after {:.1f} s, as happens when its libraries are read for the first time: "
                  "the search ends "
                  "so much later; with --max-time it would not",
                  ready_s));
  observer.note(run.notes.back());
}

/// Which dimensions of the model's inputs are symbolic.
std::map<std::string, std::vector<std::string>> symbolic_dimensions(const schema::ModelDescription& model) {
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& input : model.inputs)
    if (std::any_of(input.dim_names.begin(), input.dim_names.end(), [](const auto& name) { return !name.empty(); }))
      names[input.name] = input.dim_names;
  return names;
}

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

/// What the card reaches, for the report's explanations; a run is no worse without.
void measure_ceilings(execute::Executor& executor, const TuneRequest& request, schema::TuneRun& run,
                      CampaignObserver& observer, bool has_time) {
  if (run.provider == "cpu") return;
  const CeilingsCache cache(request.ceilings_folder);
  if (!has_time) {
    run.gpu_ceilings = cache.known(run);
    if (!run.gpu_ceilings)
      run.notes.push_back(
          request.fresh_finals
              ? "what this GPU reaches at best was not measured: the time budget is spent"
              : "what this GPU reaches at best is not measured by a quick search; one without --quick does");
    return;
  }
  const auto found = cache.get(run, [&] {
    observer.stage("what this GPU reaches");
    return executor.gpu_ceilings(request.workload.kind, request.ort_library);
  });
  if (found) {
    run.gpu_ceilings = *found;
    return;
  }
  if (found.error().code == ErrorCode::cancelled) return;
  run.notes.push_back(
      fmt::format("what this GPU reaches at best was not measured: {}", base::error_line(found.error())));
  observer.note(run.notes.back());
}

/// What the recommended settings and the current ones take as the only session of a process, for the report: that may
/// be less than beside others, which is how trials are measured. Where there is time, for as long as the energy counter
/// needs, for which trials are too short.
void measure_alone(TrialRunner& runner, const TuneRequest& request, TuneResult& result) {
  auto& run = result.run;
  if (run.provider == "cpu" || !request.fresh_finals || !run.verdict || run.verdict->decision == schema::Decision::none)
    return;
  const auto has_time = [&](const schema::Configuration& configuration, double window_s, double limit_s) {
    return runner.spent_s() + expected_alone_s(result, configuration) + window_s <= limit_s;
  };
  const double limit_s =
      request.max_time ? base::to_seconds(*request.max_time) : std::numeric_limits<double>::infinity();
  const double explained_s = request.max_time ? limit_s : kExplainedS;
  const auto& configuration = run.verdict->configuration;
  if (analysis::in_flight(configuration) != 1 || !has_time(configuration, 0, limit_s)) return;
  // The answer stands without it.
  const bool long_enough = has_time(configuration, kEnergyWindowS, explained_s);
  if (auto key = runner.alone(configuration, long_enough ? kEnergyWindowS : 0, "the recommended settings"))
    run.verdict->alone_key = std::move(*key);
  if (configuration == run.current || analysis::in_flight(run.current) != 1 ||
      !has_time(run.current, kEnergyWindowS, explained_s))
    return;
  if (auto key = runner.alone(run.current, kEnergyWindowS, "the current settings"))
    run.verdict->alone_current_key = std::move(*key);
}

/// Parts of cuDNN are loaded by the first inference only, so the worker is asked again after it.
void read_loaded_libraries(execute::Executor& executor, const TuneRequest& request, schema::TuneRun& run) {
  if (run.provider == "cpu" || run.trials.empty() || run.trials.back().from_store) return;
  auto now = executor.probe(request.workload.kind, request.ort_library);
  if (now && now->loaded_libraries.size() > run.runtime.loaded_libraries.size())
    run.runtime.loaded_libraries = std::move(now->loaded_libraries);
}

/// How the runtime fuses the model in that configuration, for the report's explanations.
void read_graph(execute::Executor& executor, const TrialRunner& runner, const schema::Configuration& configuration,
                schema::TuneRun& run, CampaignObserver& observer) {
  if (std::any_of(run.runtime_graphs.begin(), run.runtime_graphs.end(),
                  [&](const auto& graph) { return graph.stands_for(configuration); }))
    return;
  auto graph = executor.runtime_graph(runner.spec_for(configuration));
  if (graph) {
    run.runtime_graphs.push_back(std::move(*graph));
    return;
  }
  const auto& error = graph.error();
  if (error.code == ErrorCode::unsupported || error.code == ErrorCode::cancelled) return;
  run.notes.push_back(fmt::format("how the runtime fuses the model was not found out: {}", base::error_line(error)));
  observer.note(run.notes.back());
}

/// A comparison goes on for as long as an uneven machine asks for; within --max-time it has to leave some to the
/// others.
void suit_time(TuneRequest& request) {
  if (!request.max_time) return;
  auto& paired = request.paired;
  const double most_s = kPairShare * base::to_seconds(*request.max_time);
  paired.max_time_s = std::min(paired.max_time_s, most_s);
  paired.min_samples_time_s = std::min(paired.min_samples_time_s, most_s);
  paired.min_time_s = std::min(paired.min_time_s, paired.max_time_s / 2);
  // On an uneven machine times are never steady, and each arm would warm up for as long as it may.
  paired.warmup.warmup_max_s = std::min(paired.warmup.warmup_max_s, kWarmUpShare * paired.max_time_s);
}

/// Whether the results file may know trials of this model on this device.
bool has_runs_of(store::Store& store, const schema::TuneRun& run) {
  const auto runs = store.list_runs(kRunsOfModel, schema::TuneRun::kLayout.kind);
  if (!runs) return false;
  return std::any_of(runs->begin(), runs->end(), [&, name = schema::model_name(run)](const auto& one) {
    return one.trials > 0 && one.line.device == run.device && one.line.subject == name;
  });
}

Result<void> hash_input_files(schema::WorkloadRef& workload) {
  for (auto& file : workload.input_files) {
    auto hash = base::sha256_file(file.path);
    if (!hash)
      return base::fail(hash.error().code, "--input {}:{}: {}; expected a file written by numpy.save", file.name,
                        file.path, hash.error().message);
    file.sha256 = std::move(*hash);
  }
  return {};
}

}  // namespace

TuneCampaign::TuneCampaign(execute::Executor& executor, store::Store& store, const base::Clock& clock,
                           CampaignObserver& observer, std::function<bool()> cancelled)
    : executor_(executor), store_(store), clock_(clock), observer_(observer), cancelled_(std::move(cancelled)) {}

Result<TuneResult> TuneCampaign::run(const TuneRequest& asked) {
  auto request = asked;
  TuneResult result;
  auto& run = result.run;
  run.started_utc = clock_.utc_now();
  run.id = make_run_id(base::system_clock(), run.started_utc, request.command_line);  // unique, whatever the clock
  run.command_line = request.command_line;
  run.config_path = request.config_path;
  run.objective = request.objective;
  run.constraints = request.constraints;
  run.min_effect = request.min_effect;
  run.search = request.search;
  run.seed = request.seed;
  run.plan = request.plan;
  run.workload = request.workload;
  run.current_origins = request.current_origins;
  TrialRunner runner(executor_, store_, clock_, observer_, request, result);

  run.environment = request.environment ? *request.environment : host::probe_environment();
  run.environment.ridgeline_version = base::version();
  // The model first: most slips are in its path or shapes.
  RL_TRY(hash_input_files(run.workload));
  RL_TRY_ASSIGN(run.model, executor_.inspect({run.workload, request.ort_library}));
  RL_TRY(check_input_types(run.model));
  RL_TRY(check_shapes_and_batch(request.workload, run.model, request.space));
  run.workload.shapes = run.model.shapes;
  run.workload.content_sha256 = run.model.sha256;
  run.workload.dim_names = symbolic_dimensions(run.model);
  RL_TRY_ASSIGN(run.runtime, executor_.probe(request.workload.kind, request.ort_library));
  RL_TRY_ASSIGN(run.provider, resolve_provider(request.provider, run.runtime, run.environment));
  run.device = run.provider == "cpu" || run.environment.gpus.empty() ? run.environment.cpu_device_id()
                                                                     : "gpu:" + run.environment.gpus.front().uuid;
  for (const auto& constraint : run.constraints)
    if (run.provider == "cpu" && constraint.metric.rfind("gpu_", 0) == 0)
      return base::fail(ErrorCode::invalid_argument, "--constraint {}: known of a GPU only, but provider cpu is tuned",
                        constraint.to_text())
          .hint("leave it out, or use peak_rss_mb for the memory of the process");
  if (run.provider == "cpu")
    suit_time(request);
  else
    suit_gpu(request);
  run.plan = request.plan;
  run.io = request.io;
  if (run.io == "device" && run.provider == "cpu")
    return base::fail(ErrorCode::invalid_argument,
                      "--io device: data can only stay on a GPU, but provider cpu is tuned{}",
                      request.provider == "auto" ? " (no usable GPU was found)" : "")
        .hint("use --io host");
  observer_.environment_ready(run);
  if (auto note =
          request.provider == "auto" ? idle_gpu_note(run.provider, run.runtime, run.environment) : std::string();
      !note.empty()) {
    run.notes.push_back(std::move(note));
    observer_.note(run.notes.back());
  }
  observer_.model_ready(run);

  search::SpaceInput input{run.provider, run.objective, run.environment, run.model, run.runtime, request.space};
  input.io = run.io;
  input.memory_is_bounded = std::any_of(run.constraints.begin(), run.constraints.end(),
                                        [](const auto& constraint) { return constraint.metric == "gpu_memory_gb"; });
  RL_TRY_ASSIGN(auto built, search::build_space(input));
  input.request = with_unsearched_fixed(request.space, built.space, request.current);
  if (input.request.fixed.size() != request.space.fixed.size()) {
    RL_TRY_ASSIGN(built, search::build_space(input));
  }
  const auto& space = built.space;
  // What the user has now, without what --set pins: that is part of the answer. A pinned batch is part of the question.
  run.current = request.current;
  if (const auto* batch = space.fixed().find("batch_size")) run.current.set("batch_size", *batch);
  run.current = search::simplify(run.current);
  run.space = space.dimensions();
  run.space_size = space.raw_size();
  run.pruned = built.pruned;
  if (request.accept_space) RL_TRY(request.accept_space(run.space));

  search::SearcherOptions options;
  options.seed = request.seed;
  options.random_budget = request.random_budget;
  options.min_effect = request.min_effect;
  options.current = run.current;
  RL_TRY_ASSIGN(const auto searcher, search::make_searcher(request.search, space, options));
  auto forecast = forecast_time(request, searcher->remaining(), runner.lanes());
  forecast.stored = request.use_store && has_runs_of(store_, run);
  observer_.space_ready(run, forecast);

  const RunBudget budget(runner, request, result, space);
  SpeedWatch speed(runner, result);
  DecisionMaker decision(
      runner, speed, request, space, result, observer_, [&budget] { return budget.time_left_s(); }, cancelled_);

  // An interrupt anywhere below keeps what was found; any other error ends the run.
  const auto search_and_decide = [&]() -> Result<void> {
    RL_TRY(runner.prepare_reference());
    if (request.max_time && !asked.max_time) allow_for_slow_start(runner, run, observer_);
    EarlierRuns earlier(store_, run);
    SearchLoop loop(runner, speed, earlier, request, *searcher, budget, result, observer_, cancelled_, [&] {
      read_loaded_libraries(executor_, request, run);
      if (budget.has_time_for_graph()) read_graph(executor_, runner, run.current, run, observer_);
    });
    RL_TRY_ASSIGN(bool cut_short, loop.run());
    if (const auto ranking = analysis::rank(run, result.outcomes);
        !ranking.empty() && !run.runtime_graphs.empty() && !budget.is_up(expected_graph_s(result), {}))
      read_graph(executor_, runner, ranking.front().trial->configuration, run, observer_);
    // The probes end the worker, which a search without fresh processes still needs.
    measure_ceilings(executor_, request, result.run, observer_, request.fresh_finals && !budget.is_up(kCeilingsS, {}));
    auto decided = decision.decide(cut_short);
    while (decided && !*decided) {
      RL_TRY_ASSIGN(cut_short, loop.run());
      decided = decision.decide(cut_short);
    }
    loop.finish();
    RL_TRY(std::move(decided));
    measure_alone(runner, request, result);
    return {};
  };
  if (auto done = search_and_decide(); !done) {
    const bool out_of_time = done.error().code == ErrorCode::out_of_time;
    if (!out_of_time && done.error().code != ErrorCode::cancelled) return tl::unexpected(std::move(done).error());
    run.interrupted = !out_of_time;
    if (out_of_time)
      decision.give_up(fmt::format("--max-time of {:.3g} s was over", base::to_seconds(*request.max_time)),
                       done.error().message + "; a longer --max-time lets it end, or shows that it hangs");
    else
      decision.give_up("interrupted", "");
  }
  run.finished_utc = clock_.utc_now();
  RL_TRY(runner.save_run(true));
  return result;
}

Result<TuneResult> load_result(store::Store& store, const std::string& run_id) {
  RL_TRY_ASSIGN(const auto stored, store.load_run(run_id, schema::TuneRun::kLayout.kind));
  return complete_result(store, stored);
}

Result<TuneResult> complete_result(store::Store& store, const schema::Run& stored) {
  TuneResult result;
  RL_TRY_ASSIGN(result.run, schema::run_as<schema::TuneRun>(stored));
  for (const auto& trial : result.run.trials) {
    RL_TRY_ASSIGN(auto found, store.find_trial(trial.key));
    if (found) result.outcomes[trial.key] = judged(std::move(found->outcome), result.run.accuracy_tolerance);
  }
  const auto verdict = result.run.verdict.value_or(schema::TuneVerdict{});
  for (const auto& key : {verdict.alone_key, verdict.alone_current_key}) {
    if (key.empty()) continue;
    RL_TRY_ASSIGN(auto found, store.find_trial(key));
    if (found) result.outcomes[key] = std::move(found->outcome);
  }
  for (const auto& pair : result.run.pairs) {
    RL_TRY_ASSIGN(auto found, store.find_pair(pair.key));
    if (found) result.pairs[pair.key] = std::move(found->outcome);
  }
  return result;
}

}  // namespace ridgeline::campaign
