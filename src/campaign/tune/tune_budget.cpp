// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/tune_budget.hpp"

#include <algorithm>

#include "analysis/device_learning.hpp"
#include "analysis/ranking.hpp"
#include "campaign/tune/pair_plan.hpp"
#include "campaign/tune/session_limit.hpp"
#include "schema/execution_provider.hpp"
#include "workload/torch/torch_code.hpp"

namespace ridgeline::campaign {

using schema::Configuration;

namespace {

constexpr double kSearchShare = 0.7;      // of --max-time; the rest is for comparisons
constexpr double kCompilingShare = 0.85;  // the same where trials compile, which takes longer than any comparison
constexpr double kRivalShare = 0.2;       // of --max-time, for comparing the fastest of two candidates
constexpr double kHopeless = 1.3;         // times the fastest: an exported model that is not compared at its defaults
constexpr double kCodeS = 8;              // for running the code that loads another candidate
constexpr double kTorchCodeS = 30;        // for the same in PyTorch, which is imported and compiles again
constexpr double kCodeShare = 0.05;       // of --max-time, for the same, at most
constexpr double kTorchCodeShare = 0.1;
constexpr double kPreparedCodeS = 4;          // where all but the timing is done in the background
constexpr double kCodeCalls = 20;             // that it times
constexpr double kMostTorchCodeShare = 0.25;  // of --max-time, where compiling takes long
constexpr double kPlannedShare = 0.97;
// Where all of the time is for one comparison none can be left out, and on an H200 with an uneven CPU what was planned
// for 9 s took up to 9.3 (benchmarks/results/h200/README.md).
constexpr double kPlannedShareForOnePair = 0.9;
constexpr double kGraphShare = 0.05;                     // the most for reading the runtime's graph
constexpr std::int64_t kMostGraphBytes = 2'000'000'000;  // of weights, which go through a temporary file
constexpr double kTrialShare = 0.5;                      // of what the search has left, for one trial that compiles
constexpr double kLeastTrialS = 10;                      // importing torch and making an ordinary model
constexpr double kExportS = 120;
// Of what is left: with 60 s on an H200 host with slow CPUs, exporting took 38 to 55.
constexpr double kExportShare = 0.5;
constexpr double kGraceS = 1;              // for creating the session and checking the outputs
constexpr double kAskGraceS = 5;           // loading a runtime from a warm disk
constexpr double kShortS = 180;            // on an H200 host each frozen model was compiled anew, for 20 to 43 s
constexpr double kSlowStartS = 3;          // of a process that shares the machine with others that are being made
constexpr double kTakeOverS = 0.5;         // a process that was prepared
constexpr double kFinalsAhead = 1.5;       // times what it takes to make them
constexpr double kSessionS = 0.3;          // loading the runtime and creating a session of a small model
constexpr std::size_t kMostAblations = 4;  // settings of a usual winner that are taken out once each

bool compiles(const Configuration& configuration) {
  return configuration.get_or("torch_compile", "off").as_text() != "off";
}

}  // namespace

bool TuneBudget::is_short() const {
  return binding_ && limit_s() <= kShortS && result_.run.workload.kind == workload::kPythonKind &&
         result_.run.on_gpu() && request_.search != "quick";
}

void TuneBudget::limit_by_default() {
  set_limit(kUsualLimit);
  binding_ = by_default_ = true;
}

double TuneBudget::search_share() const {
  if (prepares_) return kPlannedShare;  // what follows takes little, and is_up() counts it
  return schema::provider_of(result_.run.provider).compiles_calls ? kCompilingShare : kSearchShare;
}

execute::TimeLeft TuneBudget::time_left(double reserve_s, double more_s) const {
  if (!binding_ || is_first_trial_free()) return {};
  const auto& plan = result_.run.plan;
  return {std::max(0.0, left_s() - reserve_s), reserve_s + more_s + plan.warmup_max_s + plan.max_time_s + kGraceS};
}

execute::TimeLeft TuneBudget::time_for_candidate() const {
  if (!binding_) return {};
  return {std::max(0.0, left_s()), kGraceS};
}

double TuneBudget::export_limit_s() const {
  return binding_ ? std::min(kExportS, kExportShare * std::max(0.0, left_s())) : kExportS;
}

bool TuneBudget::is_first_trial_free() const { return by_default_ && result_.run.trials.empty(); }

execute::TimeLeft TuneBudget::time_to_ask() const {
  if (!binding_) return {};
  return {std::max(0.0, left_s()), kAskGraceS};
}

std::optional<double> TuneBudget::trial_limit_s(const Configuration& configuration, std::size_t remaining) const {
  const bool may_compile = schema::provider_of(result_.run.provider).compiles_calls;
  if (!binding_ || is_first_trial_free() || !may_compile || !schema::candidate_of(configuration).empty())
    return std::nullopt;
  // Others are compiled meanwhile, where that goes on in the background.
  const bool waits = compiles(configuration) && prepared_.count(schema::without_candidate(configuration)) == 0;
  const double share = waits ? std::max(kTrialShare, 1 / (1 + static_cast<double>(remaining))) : 1;
  return std::max(kLeastTrialS, share * std::min(left_s(search_share()), plannable_s() - pair_reserve_s()));
}

double TuneBudget::pair_reserve_s() const { return binding_ && request_.finalists > 0 ? expected_final_s() : 0; }

double TuneBudget::plannable_s() const {
  return left_s(has_one_pair() && !is_short() ? kPlannedShareForOnePair : kPlannedShare) - code_s();
}

double TuneBudget::whole_plannable_s() const { return left_s(kPlannedShare) - code_s(); }

double TuneBudget::code_s() const {
  const bool is_python = result_.run.workload.kind == workload::kPythonKind;
  if (!is_limited() || (result_.run.candidates.empty() && !is_python)) return 0;
  if (!is_python) return std::min(kCodeS, kCodeShare * limit_s());
  if (prepares_ && is_very_short()) return 0;  // it runs if there is time
  if (prepares_) return kPreparedCodeS + kCodeCalls * fastest_call_s();
  const double usual_s = std::min(kTorchCodeS, kTorchCodeShare * limit_s());
  return std::max(usual_s, std::min(usual_s + fastest_compile_s(), kMostTorchCodeShare * limit_s()));
}

double TuneBudget::fastest_compile_s() const {
  const auto ranking = analysis::rank(result_.run, result_.outcomes);
  if (ranking.empty()) return 0;
  const auto& outcome = result_.outcomes.at(ranking.front().trial->key);
  const auto found = outcome.measurement->metrics.find("compile_s");
  if (found == outcome.measurement->metrics.end()) return 0;
  return std::max(0.0, found->second - measure::trial_cost(outcome, 1).saved_s);
}

double TuneBudget::fastest_call_s() const {
  const auto ranking = analysis::rank(result_.run, result_.outcomes);
  return ranking.empty() ? 0 : cost_of(ranking.front().trial->configuration).inference_s;
}

bool TuneBudget::is_up(double next_s, const std::vector<search::Proposal>& next) const {
  if (!is_limited()) return false;
  const auto& run = result_.run;
  const bool has_candidate = std::any_of(run.trials.begin(), run.trials.end(), [&](const auto& trial) {
    const auto& outcome = result_.outcomes.at(trial.key);
    return trial.configuration != run.current && !spaces_.is_defaults(trial.configuration) &&
           outcome.status == schema::TrialStatus::ok &&
           outcome.measurement->stop_reason != schema::StopReason::stopped_early;
  });
  const bool late = left_s(search_share()) < 0;
  if (!has_candidate) return late;
  if (late && request_.finalists > 0 && !has_one_pair()) return true;
  double pair_s = 0;
  if (request_.finalists > 0) {
    pair_s = expected_final_s();
    for (const auto& proposal : next) {
      const auto plan = pair_plan(result_, request_.paired, run.current, proposal.configuration, 1);
      pair_s = std::max(pair_s, expected_pair_s(plan, request_.fresh_finals, run.current, proposal.configuration));
    }
  }
  return plannable_s() < next_s + pair_s + rival_s();
}

double TuneBudget::rival_s() const {
  const auto& run = result_.run;
  if ((run.candidates.empty() && !is_short()) || !run.on_gpu() || request_.finalists < 2) return 0;
  const auto ranking = analysis::rank(run, result_.outcomes);
  if (ranking.empty()) return 0;
  const auto& best = ranking.front().trial->configuration;
  const double reach = ranking.front().cost.value * (1 + analysis::session_reach(result_.learned));
  for (const auto& ranked : ranking) {
    const auto& other = ranked.trial->configuration;
    if (ranked.cost.value > reach) break;
    if (other == best || other == run.current) continue;
    if (schema::candidate_of(other) == schema::candidate_of(best) && !is_short()) continue;
    const auto plan = pair_plan(result_, request_.paired, best, other, 1);
    return std::min(expected_pair_s(plan, false, best, other), kRivalShare * limit_s());
  }
  return 0;
}

std::vector<Configuration> TuneBudget::candidates_to_compare() const {
  const auto& run = result_.run;
  // A short comparison has no 99th percentile.
  if (run.candidates.empty() || request_.finalists == 0 || has_one_pair() ||
      run.request.objective == schema::Objective::p99)
    return {};
  const auto ranking = analysis::rank(run, result_.outcomes);
  if (std::none_of(ranking.begin(), ranking.end(),
                   [&](const auto& ranked) { return ranked.trial->configuration == run.current; }))
    return {};
  std::vector<Configuration> out;
  for (const auto& ranked : ranking) {
    const auto& configuration = ranked.trial->configuration;
    const bool compared = std::any_of(run.pairs.begin(), run.pairs.end(), [&](const auto& pair) {
      return pair.a == run.current && pair.b == configuration;
    });
    // Two processes that take long to start would only show of an exported model what its trial has shown.
    const auto* candidate = schema::find_candidate(run.candidates, schema::candidate_of(configuration));
    const bool hopeless =
        candidate != nullptr && candidate->workload && ranked.cost.value > kHopeless * ranking.front().cost.value;
    if (configuration != run.current && spaces_.is_defaults(configuration) && !compared && !hopeless)
      out.push_back(configuration);
  }
  return out;
}

bool TuneBudget::is_up(const std::vector<search::Proposal>& next) const {
  double most_s = 0;
  for (const auto& proposal : next) most_s = std::max(most_s, expected_trial_s(proposal.configuration));
  return is_up(most_s, next);
}

bool TuneBudget::has_time_for_graph() const {
  return request_.fresh_finals && result_.run.model.parameter_bytes <= kMostGraphBytes &&
         expected_graph_s() < kGraphShare * limit_s();
}

TimeForecast TuneBudget::forecast(std::size_t trials, std::size_t concurrency) const {
  TimeForecast out;
  out.trials = trials;
  if (request_.finalists > 0) out.comparisons = request_.finalists + (request_.leave_one_out ? kMostAblations : 0);
  if (request_.finalists > 0 && !has_one_pair()) out.comparisons += result_.run.candidates.size();
  const auto& plan = request_.plan;
  const auto& paired = request_.paired;
  const auto rounds = static_cast<double>((trials + concurrency - 1) / std::max<std::size_t>(concurrency, 1));
  const auto pairs = static_cast<double>(out.comparisons);
  out.low_s = rounds * (kSessionS + plan.min_time_s) + (request_.finalists > 0 ? paired.min_time_s : 0);
  const double most_pair_s = std::max(paired.max_time_s, paired.min_samples > 0 ? paired.min_samples_time_s : 0);
  out.high_s = rounds * (kSessionS + plan.warmup_max_s + plan.max_time_s) + pairs * (2 * kSessionS + most_pair_s);
  if (is_limited()) out.limit_s = limit_s();
  out.by_default = by_default_;
  out.low_s = std::min(out.low_s, limit_s());
  out.high_s = std::min(out.high_s, limit_s());
  return out;
}

void TuneBudget::expect_prepared(const std::vector<schema::TrialSpec>& specs) {
  prepares_ = true;
  std::map<Configuration, double> now;
  for (const auto& spec : specs) {
    const auto known = prepared_.find(spec.configuration);
    now[spec.configuration] = known == prepared_.end() ? elapsed_s() : known->second;
  }
  prepared_ = std::move(now);
}

double TuneBudget::prepared_for_s(const Configuration& configuration) const {
  const auto asked = prepared_.find(schema::without_candidate(configuration));
  return asked == prepared_.end() ? 0 : elapsed_s() - asked->second;
}

bool TuneBudget::may_wait_for(const std::vector<Configuration>& prepared) const {
  std::vector<search::Proposal> next;
  for (const auto& configuration : prepared) next.push_back({configuration, {}, {}, std::nullopt});
  const double timing_s = std::min(result_.run.plan.warmup_max_s, kGraceS) + result_.run.plan.min_time_s;
  return !is_up(kTakeOverS + timing_s, next);
}

bool TuneBudget::ends_soon() const {
  if (!is_limited() || !prepares_) return false;
  const auto ranking = analysis::rank(result_.run, result_.outcomes);
  if (ranking.empty()) return false;
  const double making_s = cost_of(ranking.front().trial->configuration).session_s;
  return plannable_s() < expected_final_s() + kFinalsAhead * (kSlowStartS + making_s);
}

double TuneBudget::ready_s(const Configuration& configuration, double making_s) const {
  if (is_short()) return 0;  // the process of its trial is compared
  return std::max(0.0, kSlowStartS + making_s - prepared_for_s(configuration));
}

schema::PairedPlan TuneBudget::with_rounds_by_cost(const schema::PairedPlan& plan, const Configuration& a,
                                                   const Configuration& b) const {
  return measure::with_rounds_by_cost(plan, pair_cost(false, a, b));
}

std::optional<double> TuneBudget::expected_prepared_s(const Configuration& configuration) const {
  const auto asked = prepared_.find(configuration);
  if (asked == prepared_.end()) return std::nullopt;
  // As long as the longest of those that are made in the same way took, less what has passed of it.
  std::optional<double> making_s;
  double timing_s = 0;
  for (const auto& trial : result_.run.trials) {
    const auto& outcome = result_.outcomes.at(trial.key);
    if (trial.cached || !outcome.measurement) continue;
    const double session_s = outcome.measurement->session_create_ns * 1e-9;
    timing_s = std::max(timing_s, std::min(outcome.duration_s, outcome.measurement->wall_ns * 1e-9 + kGraceS));
    if (compiles(trial.configuration) == compiles(configuration)) making_s = std::max(making_s.value_or(0), session_s);
  }
  if (made_.count(configuration) > 0) return std::max(timing_s, kTakeOverS);
  if (!making_s) return std::nullopt;
  return timing_s + std::max(0.0, *making_s - (elapsed_s() - asked->second));
}

double TuneBudget::expected_trial_s(const Configuration& configuration) const {
  if (const auto prepared_s = expected_prepared_s(configuration)) return *prepared_s;
  return measure::expected_trial_s(costs(false), static_cast<double>(sessions_of(configuration)));
}

double TuneBudget::expected_isolated_s(const Configuration& configuration) const {
  if (prepares_ && schema::candidate_of(configuration).empty()) {
    const auto own = cost_of(configuration);
    return ready_s(configuration, own.session_s) + std::max(0.0, own.duration_s - own.untimed_s) + kGraceS;
  }
  return measure::expected_isolated_s(costs(false), cost_of(configuration));
}

double TuneBudget::expected_graph_s() const {
  return measure::expected_graph_s(costs(true), result_.run.model.parameter_bytes);
}

double TuneBudget::expected_pair_s(const schema::PairedPlan& plan, bool fresh_process, const Configuration& a,
                                   const Configuration& b) const {
  return measure::expected_pair_s(plan, pair_cost(fresh_process, a, b));
}

double TuneBudget::expected_final_s() const {
  const auto ranking = analysis::rank(result_.run, result_.outcomes);
  if (ranking.empty()) return 0;
  const auto& current = result_.run.current;
  const auto& best = ranking.front().trial->configuration;
  return expected_pair_s(pair_plan(result_, request_.paired, current, best, 1), request_.fresh_finals, current, best);
}

schema::PairedPlan TuneBudget::fitted_plan(const schema::PairedPlan& plan, bool fresh_process, const Configuration& a,
                                           const Configuration& b, double left_s) const {
  return measure::fitted_plan(plan, pair_cost(fresh_process, a, b), left_s);
}

measure::TrialCosts TuneBudget::costs(bool with_stored) const {
  measure::TrialCosts costs;
  for (const auto& trial : result_.run.trials) {
    const auto found = result_.outcomes.find(trial.key);
    if (found == result_.outcomes.end() || (trial.cached && !with_stored)) continue;
    costs.push_back(measure::trial_cost(found->second, static_cast<double>(sessions_of(trial.configuration))));
  }
  return costs;
}

measure::TrialCost TuneBudget::cost_of(const Configuration& configuration) const {
  const auto sessions = static_cast<double>(sessions_of(configuration));
  for (const auto& trial : result_.run.trials) {
    if (trial.configuration != configuration) continue;
    if (const auto found = result_.outcomes.find(trial.key); found != result_.outcomes.end())
      return measure::trial_cost_with_median(found->second, sessions);
    break;
  }
  measure::TrialCost untried;
  untried.sessions = sessions;
  return untried;
}

measure::PairCost TuneBudget::pair_cost(bool fresh_process, const Configuration& a, const Configuration& b) const {
  const bool on_gpu = result_.run.on_gpu();
  auto cost = measure::pair_cost(costs(false), cost_of(a), cost_of(b), on_gpu, fresh_process);
  if (prepares_) {
    if (schema::candidate_of(a).empty()) cost.a.ready_s = ready_s(a, cost.a.session_s);
    if (schema::candidate_of(b).empty()) cost.b.ready_s = ready_s(b, cost.b.session_s);
  }
  return schema::candidate_of(a) == schema::candidate_of(b) ? cost : measure::in_own_processes(cost, on_gpu);
}

}  // namespace ridgeline::campaign
