// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/tune_campaign.hpp"

#include "campaign/messages.hpp"
#include "campaign/tune/candidate_comparisons.hpp"
#include "campaign/tune/candidates.hpp"
#include "campaign/tune/decision_maker.hpp"
#include "campaign/tune/device_memory.hpp"
#include "campaign/tune/earlier_answer.hpp"
#include "campaign/tune/explain.hpp"
#include "campaign/tune/prepare.hpp"
#include "campaign/tune/recommendation.hpp"
#include "campaign/tune/search_loop.hpp"
#include "campaign/tune/space.hpp"

namespace ridgeline::campaign {

using base::ErrorCode;
using base::Result;

namespace {

constexpr double kUsualStartS = 4;  // of the runtime, reference outputs included

/// The ten seconds of a quick search begin late where the runtime does: an H100 host that read CUDA from its disk for
/// the first time was ready after 6.5 s, and nothing could be tried in what was left.
void allow_for_slow_start(RunContext& context) {
  const double ready_s = context.budget.spent_s();
  if (!context.budget.is_limited() || context.budget.is_binding() || ready_s <= kUsualStartS) return;
  context.budget.exclude_from_budget(ready_s - kUsualStartS);
  context.note(messages::ready_late(ready_s));
}

/// The phases that an interrupt may end and keep what was found.
Result<void> search_and_decide(RunContext& context, TrialRunner& runner, SpeedWatch& speed, search::Searcher& searcher,
                               DecisionMaker& decision) {
  RL_TRY(runner.prepare_reference());
  allow_for_slow_start(context);
  Explainer explainer(context, runner);
  const auto answer_early = [&]() -> Result<bool> {
    context.times.enter(&schema::TimeSpent::comparisons_s);
    auto answered = decision.answer_early();
    context.times.enter(&schema::TimeSpent::trials_s);
    return answered;
  };
  SearchLoop loop(
      context, runner, speed, searcher, [&] { explainer.look_at_current(); }, answer_early);
  context.times.enter(&schema::TimeSpent::trials_s);
  RL_TRY_ASSIGN(bool cut_short, loop.run());
  context.times.enter(&schema::TimeSpent::answer_s);
  explainer.look_at_fastest();
  context.times.enter(&schema::TimeSpent::comparisons_s);
  // What is left untried could be faster than what was tried.
  if (!cut_short) RL_TRY(CandidateComparisons(context, runner).run());
  auto decided = decision.decide(cut_short);
  while (decided && !*decided) {
    context.times.enter(&schema::TimeSpent::trials_s);
    RL_TRY_ASSIGN(cut_short, loop.run());
    context.times.enter(&schema::TimeSpent::comparisons_s);
    decided = decision.decide(cut_short);
  }
  loop.finish();
  context.result.run.cut_short = cut_short;
  RL_TRY(std::move(decided));
  context.times.enter(&schema::TimeSpent::answer_s);
  explainer.measure_isolated();
  return {};
}

}  // namespace

TuneCampaign::TuneCampaign(execute::Executor& executor, store::Store& store, const base::Clock& clock,
                           CampaignObserver& observer, std::function<bool()> cancelled)
    : executor_(executor), store_(store), clock_(clock), observer_(observer), cancelled_(std::move(cancelled)) {}

Result<TuneResult> TuneCampaign::run(const TuneRequest& request) {
  RunContext context(executor_, store_, clock_, observer_, cancelled_, request);
  RL_TRY(prepare(context));
  RL_TRY_ASSIGN(const auto searcher, build_space(context));
  TrialRunner runner(context);
  runner.want_from_start(searcher->foreseen());
  auto forecast = context.budget.forecast(searcher->remaining(), runner.device_slots());
  forecast.stored = has_known_trials(context);
  observer_.space_ready(context.result.run, forecast);

  RL_TRY_ASSIGN(const bool answered, take_earlier_answer(context));
  if (answered) {
    RL_TRY(context.frame.end());
    return std::move(context.result);
  }
  SpeedWatch speed(context, runner);
  DecisionMaker decision(context, runner, speed);
  if (auto done = search_and_decide(context, runner, speed, *searcher, decision); !done) {
    const auto& error = done.error();
    if (error.code == ErrorCode::cancelled) {
      context.result.run.interrupted = true;
      decision.give_up(std::nullopt, "");
    } else if (error.code == ErrorCode::out_of_time) {
      decision.give_up(context.budget.limit_s(), error.message);
    } else {
      return tl::unexpected(error);
    }
  }
  context.times.enter(&schema::TimeSpent::answer_s);
  save_exported(context);
  record_changes(context.result.run);
  runner.ahead().end();
  if (context.result.run.verdict)
    add_code(context, runner.spec_for(context.result.run.verdict->configuration),
             runner.spec_for(context.result.run.current));
  learn_of_device(context);
  context.times.enter(&schema::TimeSpent::answer_s);
  RL_TRY(context.frame.end());
  observer_.run_ended(context.result.run);
  return std::move(context.result);
}

Result<TuneResult> complete_result(store::Store& store, const schema::Run& stored) {
  TuneResult result;
  RL_TRY_ASSIGN(result.run, schema::run_as<schema::TuneRun>(stored));
  for (const auto& trial : result.run.trials) {
    RL_TRY_ASSIGN(auto found, store.find_trial(trial.key, result.run.finished_utc));
    if (found) result.outcomes[trial.key] = judged(std::move(found->outcome), result.run);
  }
  const auto verdict = result.run.verdict.value_or(schema::TuneVerdict{});
  for (const auto& key : {verdict.isolated_key, verdict.isolated_current_key}) {
    if (key.empty()) continue;
    RL_TRY_ASSIGN(auto found, store.find_trial(key, result.run.finished_utc));
    if (found) result.outcomes[key] = std::move(found->outcome);
  }
  for (const auto& pair : result.run.pairs) {
    RL_TRY_ASSIGN(auto found, store.find_pair(pair.key, result.run.finished_utc));
    if (found) result.pairs[pair.key] = std::move(found->outcome);
  }
  return result;
}

}  // namespace ridgeline::campaign
