// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/search_loop.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/ranking.hpp"
#include "base/text.hpp"
#include "campaign/messages.hpp"
#include "campaign/tune/busy_cpus.hpp"
#include "campaign/tune/pair_plan.hpp"
#include "stats/interval.hpp"

namespace ridgeline::campaign {

using base::ErrorCode;
using base::Result;

namespace {

constexpr std::size_t kMostInShort = 2;  // of what may come next, where there is little time
constexpr std::size_t kFirstAnswer = 6;  // trials before it
constexpr double kLongSearchS = 45;      // that are left
constexpr int kMostRetakes = 2;          // of one trial
constexpr double kDoubt = 0.012;         // standard error of the machine's speed from which on a trial is in doubt
constexpr double kReachErrors = 2;       // standard errors by which a trial may be better than it looks
constexpr double kReach = 0.01;          // behind the best, within which a trial matters
constexpr double kSlowReach = 0.1;       // the same of what was measured in a slow stretch
constexpr double kWaitShare = 0.1;       // of --max-time, for the same
constexpr double kMostReading = 0.05;    // of the time that is left, for one reading
constexpr double kFelt = 0.03;           // log of the slow-down from which a narrower trial may not have felt it
constexpr double kSurprise = 1.25;       // a trial so much slower than the best asks whether the machine is

search::Observation observation_of(const schema::TuneRun& run, const schema::TunedTrial& trial,
                                   const schema::TrialOutcome& outcome) {
  search::Observation observation;
  observation.out_of_memory = outcome.status == schema::TrialStatus::out_of_memory;
  observation.met_denormals =
      outcome.measurement && schema::has_flag(outcome.measurement->flags, schema::kMetDenormals);
  if (outcome.status != schema::TrialStatus::ok || !outcome.measurement || outcome.measurement->latency_ns.empty())
    return observation;
  schema::TuneRun one;
  one.request = run.request;
  one.trials = {trial};
  one.trials.front().corrected.reset();
  const auto ranking = analysis::rank(one, {{trial.key, outcome}});
  if (ranking.empty()) return observation;
  observation.setup_s = (outcome.measurement->session_create_ns + outcome.measurement->first_run_ns) * 1e-9;
  observation.stopped_early = outcome.measurement->stop_reason == schema::StopReason::stopped_early;
  if (!ranking.front().meets_constraints) return observation;
  observation.cost = ranking.front().cost.value;
  observation.cost_low = ranking.front().cost.interval.low;
  observation.cost_high = ranking.front().cost.interval.high;
  return observation;
}

bool tries(const std::vector<search::Proposal>& batch, const schema::Configuration& configuration) {
  return std::any_of(batch.begin(), batch.end(),
                     [&](const auto& proposal) { return proposal.configuration == configuration; });
}

std::vector<schema::Configuration> configurations_of(const std::vector<search::Proposal>& batch) {
  std::vector<schema::Configuration> out;
  for (const auto& proposal : batch) out.push_back(proposal.configuration);
  return out;
}

}  // namespace

bool SearchLoop::has_current() const {
  const auto& run = result_.run;
  return std::any_of(run.trials.begin(), run.trials.end(),
                     [&](const auto& trial) { return trial.configuration == run.current; });
}

bool SearchLoop::is_up(const std::vector<search::Proposal>& next) const {
  return (cut_short_ || !result_.run.trials.empty()) && budget_.is_up(next);
}

const std::string& SearchLoop::device_of(std::size_t at) const {
  return schema::device_of(result_.run, result_.run.trials[at]);
}

Result<bool> SearchLoop::run() {
  result_.run.untried.clear();
  take_in({});  // those of the decision, where it sends the search on
  revise();
  for (;;) {
    RL_TRY_ASSIGN(const bool is_there, await_next());
    if (!is_there) break;
    const auto batch = search::next_batch(searcher_, runner_.device_slots());
    if (batch.empty()) break;
    RL_TRY(context_.check_cancelled());
    runner_.ahead().want(with_foreseen(batch));
    if (has_current()) {
      RL_TRY_ASSIGN(const bool is_made, await_any(configurations_of(batch), searcher_.remaining() + batch.size()));
      if (!is_made) break;
    }
    RL_TRY_ASSIGN(const bool goes_on, measure(batch));
    if (!goes_on) break;
    if (!looked_ && has_current()) {
      looked_ = true;
      on_current_();
    }
    RL_TRY(take_doubtful_again(false));
    forecast_.look(searcher_.remaining());
    RL_TRY(answer_early());
  }
  runner_.ahead().want({});
  if (speed_.is_stale() && has_time_to_read({})) {
    RL_TRY(speed_.read());
    revise();
  }
  RL_TRY(take_doubtful_again(true));
  if (!has_current())
    RL_TRY(runner_.trial(result_.run.current, schema::TrialStage::current, messages::current_configuration(),
                         std::nullopt, 0));
  take_in({});
  revise();
  return cut_short_;
}

std::vector<schema::Configuration> SearchLoop::with_foreseen(const std::vector<search::Proposal>& batch) const {
  auto out = configurations_of(batch);
  for (auto& configuration : searcher_.foreseen()) out.push_back(std::move(configuration));
  return out;
}

Result<void> SearchLoop::answer_early() {
  if (answered_ || budget_.is_short() || is_quick(result_.run) || searcher_.is_opening() ||
      result_.run.trials.size() < kFirstAnswer || forecast_.search_s(searcher_.remaining()) < kLongSearchS)
    return {};
  RL_TRY_ASSIGN(answered_, on_long_());
  return {};
}

void SearchLoop::finish() {
  auto& run = result_.run;
  for (auto& entry : searcher_.left_out()) run.pruned.push_back(std::move(entry));
  if (auto entry = session_limit_.left_out(run)) run.pruned.push_back(std::move(*entry));
  for (const auto& trial : run.trials) {
    const auto& outcome = result_.outcomes.at(trial.key);
    if (outcome.failure && outcome.failure->message.is("campaign.share_of_time_over"))
      run.untried.push_back({trial.configuration, outcome.duration_s});
  }
  // For who watches: the report has a finding about it.
  if (run.speed && run.speed->taken_again > 0) observer_.note(messages::trials_taken_again(run.speed->taken_again));
}

Result<bool> SearchLoop::await_any(const std::vector<schema::Configuration>& choice, std::size_t untried) {
  RL_TRY_ASSIGN(const auto there, runner_.ahead().await_any(choice));
  searcher_.prefer(there);
  if (!there.empty()) return true;
  cut_short(choice, untried);
  return false;
}

Result<bool> SearchLoop::await_next() {
  auto choice = searcher_.in_any_order();
  if (choice.empty()) return true;
  // They come by what usually wins, and whatever is timed holds up what is being made.
  if (budget_.is_very_short()) choice.resize(std::min(choice.size(), kMostInShort));
  runner_.ahead().want(searcher_.foreseen());
  return await_any(choice, searcher_.remaining());
}

void SearchLoop::cut_short(std::vector<schema::Configuration> next, std::size_t untried) {
  cut_short_ = true;
  std::erase_if(next, [&](const auto& configuration) { return budget_.prepared_for_s(configuration) == 0; });
  for (auto& configuration : searcher_.in_any_order())
    if (std::find(next.begin(), next.end(), configuration) == next.end()) next.push_back(std::move(configuration));
  for (auto& configuration : next) {
    schema::UntriedConfiguration entry{std::move(configuration)};
    if (const double time_s = budget_.prepared_for_s(entry.configuration); time_s > 0) {
      entry.made_for_s = time_s;
      observer_.note(messages::still_made({.configuration = entry.configuration.to_text(), .time_s = time_s}));
    }
    result_.run.untried.push_back(std::move(entry));
  }
  context_.note(messages::search_cut({.limit_s = budget_.limit_s(), .proposals = static_cast<std::int64_t>(untried)}));
}

Result<bool> SearchLoop::measure(const std::vector<search::Proposal>& batch) {
  auto& run = result_.run;
  const auto chosen = is_up(batch) ? session_limit_.keep(result_, batch) : batch;
  if (is_up(chosen)) {
    cut_short(configurations_of(batch), searcher_.remaining() + batch.size());
    return false;
  }
  if (speed_.is_due() && has_time_to_read(chosen)) RL_TRY(speed_.read());
  const auto before = run.trials.size();
  const auto measured = runner_.trials(chosen, searcher_.remaining() + batch.size() - 1);
  if (!measured) {
    // Without the current configuration there is nothing to compare with.
    const bool goes_on =
        measured.error().code == ErrorCode::out_of_time && (has_current() || !tries(batch, run.current));
    if (!goes_on) return tl::unexpected<base::Error>(measured.error());
    cut_short_ = true;
    context_.note(messages::trial_cut(measured.error().message));
  }
  if (before == 0) RL_TRY(runner_.check_inputs());
  take_in(chosen);
  RL_TRY(look_at_the_machine(before));
  auto at = before;
  for (const auto& proposal : batch) {
    const bool was_tried = at < run.trials.size() && tries(chosen, proposal.configuration);
    searcher_.observe(proposal, was_tried ? corrected(at) : search::Observation{});
    if (was_tried) ++at;
  }
  return true;
}

void SearchLoop::take_in(const std::vector<search::Proposal>& proposals) {
  auto& run = result_.run;
  for (auto at = seen_.size(); at < run.trials.size(); ++at) {
    auto& trial = run.trials[at];
    const auto& outcome = result_.outcomes[trial.key];
    if (trial.cached) trial.corrected = earlier_.corrected(trial.key);
    Seen seen;
    seen.observation = observation_of(run, trial, outcome);
    for (const auto& proposal : proposals)
      if (proposal.configuration == trial.configuration) seen.limit = proposal.stop_above;
    seen_.push_back(std::move(seen));
    if (seen_.back().observation.cost && !trial.cached) speed_.begin(trial, outcome);
  }
}

bool SearchLoop::has_time_to_read(const std::vector<search::Proposal>& before) const {
  const double next_s = speed_.reading_s() + (before.empty() ? 0 : budget_.longest_trial_s());
  return speed_.reading_s() <= kMostReading * budget_.plannable_s() && !budget_.is_up(next_s, before);
}

/// At once where something looks slow, or fast, that should not be, and after every trial while the machine is
/// unsteady.
Result<void> SearchLoop::look_at_the_machine(std::size_t first) {
  if (!speed_.begun() || first == seen_.size() || speed_.is_fresh()) return {};
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t at = 0; at < first; ++at)
    if (const auto known = corrected(at); known.cost && !known.stopped_early) best = std::min(best, *known.cost);
  bool surprising = false;
  bool measured = false;
  for (std::size_t at = first; at < seen_.size(); ++at) {
    const auto& run = result_.run;
    if (run.trials[at].cached) continue;
    measured = true;
    const auto known = corrected(at);
    surprising = surprising || known.stopped_early ||
                 (known.cost && (*known.cost > best * kSurprise || *known.cost * kSurprise < best));
  }
  if (!measured || (!surprising && !speed_.is_unsteady()) || !has_time_to_read({})) return {};
  RL_TRY(speed_.read());
  revise();
  return {};
}

search::Observation SearchLoop::corrected(std::size_t at) const {
  const auto& seen = seen_[at];
  auto observation = seen.observation;
  if (!observation.cost) return observation;
  const auto& trial = result_.run.trials[at];
  if (trial.cached) {
    if (trial.corrected) {
      observation.cost = trial.corrected->value;
      observation.cost_low = trial.corrected->low;
      observation.cost_high = trial.corrected->high;
    }
    return observation;
  }
  if (speed_.is_even()) return observation;
  const double quiet = speed_.quiet_cost(device_of(at));
  if (trial.configuration == result_.run.speed->reference && !observation.stopped_early) {
    // Its readings are its measurements.
    const double error = speed_.quiet_error(device_of(at));
    observation.cost = quiet;
    observation.cost_low = quiet * std::exp(-stats::kNormal95 * error);
    observation.cost_high = quiet * std::exp(stats::kNormal95 * error);
    return observation;
  }
  if (is_interleaved(at)) {
    observation.cost = quiet / seen.interleaved->ratio;
    observation.cost_low = quiet / seen.interleaved->high;
    observation.cost_high = quiet / seen.interleaved->low * std::exp(unshared(at));
    return observation;
  }
  const auto& outcome = result_.outcomes.at(trial.key);
  const auto slowdown = speed_.at(device_of(at), runner_.reading_of(trial, outcome).at_s);
  if (!slowdown) return observation;
  const double error = std::hypot(stats::log_error(observation.cost_low, observation.cost_high), slowdown->error);
  *observation.cost *= std::exp(-slowdown->log);
  observation.cost_low = *observation.cost * std::exp(-stats::kNormal95 * error);
  observation.cost_high = *observation.cost * std::exp(unshared(at) + stats::kNormal95 * error);
  // Nobody knows how much of it a narrower configuration felt: its cost is anywhere in between.
  if (is_narrower(at)) *observation.cost *= std::exp(unshared(at) / 2);
  return observation;
}

bool SearchLoop::is_interleaved(std::size_t at) const {
  return seen_[at].interleaved && seen_[at].interleaved_with == speed_.reference_number();
}

bool SearchLoop::is_narrower(std::size_t at) const {
  const auto& run = result_.run;
  return busy_cpus(run, run.trials[at].configuration) < busy_cpus(run, run.speed->reference);
}

double SearchLoop::unshared(std::size_t at) const {
  const auto& trial = result_.run.trials[at];
  const double at_s =
      is_interleaved(at) ? seen_[at].interleaved_at_s : runner_.reading_of(trial, result_.outcomes.at(trial.key)).at_s;
  const auto slowdown = speed_.at(device_of(at), at_s);
  return slowdown && slowdown->log > (is_narrower(at) ? kFelt : SpeedWatch::kSlow) ? slowdown->log : 0;
}

void SearchLoop::revise() {
  if (speed_.is_even()) return;
  auto& trials = result_.run.trials;
  for (std::size_t at = 0; at < seen_.size(); ++at) {
    const auto known = corrected(at);
    searcher_.revise(trials[at].configuration, known);
    if (trials[at].cached) continue;
    trials[at].corrected.reset();
    if (known.cost)
      trials[at].corrected = schema::CorrectedCost{{*known.cost, known.cost_low, known.cost_high}, is_interleaved(at)};
  }
}

std::optional<std::size_t> SearchLoop::most_doubtful(bool given_up_only) const {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t at = 0; at < seen_.size(); ++at)
    if (const auto known = corrected(at); known.cost && !known.stopped_early) best = std::min(best, *known.cost);
  std::optional<std::size_t> most;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t at = 0; at < seen_.size(); ++at) {
    const auto& trial = result_.run.trials[at];
    const auto& seen = seen_[at];
    const auto known = corrected(at);
    if (!known.cost || trial.cached || seen.retakes >= kMostRetakes || seen.disturbed >= kMostRetakes) continue;
    if (given_up_only && !known.stopped_early) continue;
    if (trial.configuration == result_.run.speed->reference) continue;
    const auto& outcome = result_.outcomes.at(trial.key);
    const auto slowdown = speed_.at(device_of(at), runner_.reading_of(trial, outcome).at_s);
    if (!slowdown) continue;
    const bool slow = unshared(at) > 0;
    const double error = is_interleaved(at) ? 0 : slowdown->error;
    // A slow stretch that began and ended between two readings: nothing says so but the trial itself.
    const double worst = speed_.largest_slowdown();
    const bool unseen = worst > SpeedWatch::kSlow && seen.retakes == 0 && !slow && !is_narrower(at) &&
                        *known.cost > best * kSurprise && std::log(*known.cost / best) < worst + kSlowReach;
    // Given up by a limit that is known to have been too low.
    const bool wronged = known.stopped_early && *known.cost < best * (1 + kReach);
    if (!wronged && !slow && !unseen && error < std::max(kDoubt, retake_error_)) continue;
    double optimistic = *known.cost;
    if (unseen)
      optimistic *= std::exp(-worst);
    else if (known.stopped_early)
      optimistic *= std::exp(-kReachErrors * error);
    else
      optimistic *= std::pow(known.cost_low / *known.cost, kReachErrors / stats::kNormal95);
    const double reach = best * (1 + (slow || unseen ? kSlowReach : kReach));
    const double limit = known.stopped_early && seen.limit ? std::max(*seen.limit, reach) : reach;
    if (optimistic > limit || optimistic >= least) continue;
    most = at;
    least = optimistic;
  }
  return most;
}

Result<void> SearchLoop::take_doubtful_again(bool waits) {
  while (speed_.begun() && !speed_.is_even()) {
    // What slows the machine may hit some configurations more than others, so that a slow stretch is no time to measure
    // again; but what was given up in it says nothing at all, and the search cannot go on without it.
    const bool is_slow = speed_.is_slow_now();
    const auto at = most_doubtful(is_slow && !waits);
    if (!at || speed_.extra_left_s() <= 0 || is_up({{result_.run.trials[*at].configuration, {}, {}, std::nullopt}}))
      return {};
    RL_TRY(context_.check_cancelled());
    if (is_slow && waits) {
      observer_.stage("waiting for the machine to be as fast as it was");
      const double most_s = budget_.is_limited() ? kWaitShare * budget_.limit_s() : SpeedWatch::kLongestWaitS;
      RL_TRY_ASSIGN(const double waited_s, speed_.wait_for_quiet(std::min(most_s, speed_.extra_left_s())));
      speed_.spend_extra(waited_s);
      revise();
    }
    const double begun_s = budget_.elapsed_s();
    const auto taken = take_again(*at);
    speed_.spend_extra(budget_.elapsed_s() - begun_s);
    if (!taken && taken.error().code != ErrorCode::out_of_time) return tl::unexpected<base::Error>(taken.error());
    revise();
    if (!taken) return {};  // what there is has to do
  }
  return {};
}

Result<void> SearchLoop::take_again(std::size_t at) {
  auto& seen = seen_[at];
  auto& run = result_.run;
  ++seen.retakes;
  const bool is_full = !seen.observation.stopped_early;
  if (is_full && speed_.is_unsteady() && run.request.objective != schema::Objective::p99) {
    RL_TRY_ASSIGN(const bool done, interleave(at));
    if (done) return speed_.read();
  }
  observer_.stage(fmt::format("trial {} again, as the machine was slower or faster meanwhile", run.trials[at].id));
  RL_TRY_ASSIGN(const bool done, runner_.retake(at, seen.limit));
  if (done) {
    count_take(at);
    const auto& outcome = result_.outcomes[run.trials[at].key];
    observer_.trial_taken_again(run.trials[at], outcome);
    seen.observation = observation_of(run, run.trials[at], outcome);
    seen.interleaved.reset();
  }
  return speed_.read();
}

void SearchLoop::count_take(std::size_t at) {
  if (result_.run.trials[at].takes == 2) ++result_.run.speed->taken_again;
}

Result<bool> SearchLoop::interleave(std::size_t at) {
  auto& run = result_.run;
  const auto& reference = run.speed->reference;
  const auto& trial = run.trials[at];
  observer_.stage(fmt::format("trial {} again, beside the reference, as the machine is uneven", trial.id));
  const auto plan = short_pair_plan(result_, request_.paired, reference, trial.configuration);
  if (budget_.is_up(budget_.expected_pair_s(plan, false, reference, trial.configuration), {})) return false;
  const double begun_s = budget_.elapsed_s();
  RL_TRY_ASSIGN(const auto pair, runner_.pair(schema::PairPurpose::retake, reference, trial.configuration, "", plan,
                                              seen_[at].disturbed > 0));
  if (!pair.comparison || pair.comparison->abba_rounds < 2) return false;
  if (schema::has_flag(pair.flags, schema::kOthersThroughout)) {
    // What they took of one arm and not of the other nobody knows.
    --seen_[at].retakes;
    ++seen_[at].disturbed;
    return true;
  }
  ++run.trials[at].takes;
  count_take(at);
  retake_error_ = stats::log_error(pair.comparison->low, pair.comparison->high);
  seen_[at].interleaved = pair.comparison;
  seen_[at].interleaved_with = speed_.reference_number();
  seen_[at].interleaved_at_s = (begun_s + budget_.elapsed_s()) / 2;
  return true;
}

}  // namespace ridgeline::campaign
