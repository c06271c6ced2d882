// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/winner_simplifier.hpp"

#include <algorithm>

#include "analysis/comparison.hpp"
#include "analysis/proof.hpp"
#include "analysis/ranking.hpp"
#include "campaign/messages.hpp"

namespace ridgeline::campaign {

using base::Result;
using schema::Configuration;

namespace {

constexpr double kLeaveOneOutShare =
    0.67;                         // of the finalists' ABBA rounds: these verdicts explain, they do not decide alone
constexpr int kMostLeavings = 3;  // comparisons of a simplified winner with the fastest

}  // namespace

Result<WinnerSimplifier::Doubts> WinnerSimplifier::leave_one_out() {
  const auto winner = result_.run.verdict->configuration;
  const auto& current = result_.run.current;
  const double margin = result_.run.request.min_effect;
  Doubts doubts;
  std::vector<std::pair<double, std::string>> needless;  // with the bad end of its interval
  double worst = 1;
  bool left_out = false;
  auto keys = schema::differing_keys(winner, current);
  const bool same_candidate = schema::candidate_of(winner) == schema::candidate_of(current);
  // Its settings mean nothing without it, nor do those of the current one with it.
  if (!same_candidate)
    std::erase_if(keys, [&](const auto& key) { return key == schema::kCandidateKey || !winner.contains(key); });
  if (same_candidate && keys.size() < 2) return doubts;  // a single setting's contribution is the gain itself
  for (std::size_t i = 0; i < keys.size(); ++i) {
    RL_TRY(context_.check_cancelled());
    const auto without = without_keys(winner, {keys[i]});
    if (without == winner || !spaces_.allows(without)) continue;
    const auto plan = pairs_.plan_for(winner, without, kLeaveOneOutShare);
    if (!pairs_.has_time_for(winner, without, plan, false)) {
      left_out = true;
      continue;
    }
    observer_.stage(fmt::format("what does {} contribute? ({} of {})", keys[i], i + 1, keys.size()));
    const auto measured = pairs_.measure(schema::PairPurpose::leave_one_out, winner, without, keys[i], plan);
    if (!measured && pairs_.was_cut(measured.error())) break;
    RL_TRY_ASSIGN(const auto pair, measured);
    if (!pair.comparison || pair.comparison->verdict == schema::Verdict::slower) continue;
    const auto& found = *pair.comparison;
    if (analysis::is_as_good(pair, margin))
      needless.emplace_back(found.low, keys[i]);
    else
      doubts.undecided.push_back(keys[i]);
    if (found.verdict != schema::Verdict::faster || found.ratio < worst || !analysis::is_of_quiet_machine(pair))
      continue;
    worst = found.ratio;
    doubts.harmful = keys[i];
  }
  std::sort(needless.begin(), needless.end(), std::greater<>());
  for (auto& [low, key] : needless) doubts.needless.push_back(std::move(key));
  if (left_out) result_.run.notes.push_back(messages::contributions_left_out());
  return doubts;
}

void WinnerSimplifier::note_what_stays() {
  const auto differing = schema::differing_keys(result_.run.verdict->configuration, result_.run.current);
  std::vector<std::string> stay;
  for (const auto& key : no_time_without_)
    if (std::find(differing.begin(), differing.end(), key) != differing.end()) stay.push_back(key);
  if (stay.empty()) return;
  context_.note(messages::stay_unproven(stay));
}

Configuration WinnerSimplifier::without_keys(const Configuration& configuration,
                                             const std::vector<std::string>& keys) const {
  auto simpler = configuration;
  const auto& current = result_.run.current;
  const bool same_candidate = schema::candidate_of(configuration) == schema::candidate_of(current);
  for (const auto& key : keys) {
    const auto* before = same_candidate ? current.find(key) : nullptr;
    simpler = before != nullptr ? simpler.with(key, *before) : simpler.without(key);
  }
  return spaces_.canonical(simpler);
}

Result<void> WinnerSimplifier::simplify() {
  RL_TRY_ASSIGN(const auto doubts, leave_one_out());
  // All at once, then fewer of them, those first whose absence was seen to cost least: each by itself adds nothing,
  // together they may.
  // A quick search adds nothing that is not proven.
  auto keys = doubts.needless;
  if (is_quick(result_.run)) keys.insert(keys.end(), doubts.undecided.begin(), doubts.undecided.end());
  bool simplified = false;
  for (int tries = 0; !simplified && !keys.empty() && tries < kMostLeavings; ++tries) {
    RL_TRY_ASSIGN(simplified, leave_out(keys));
    if (!simplified) keys.resize(keys.size() / 2);
  }
  if (!simplified && doubts.harmful) {
    RL_TRY_ASSIGN(simplified, leave_out({*doubts.harmful}));
    keys = {*doubts.harmful};
  }
  auto& verdict = *result_.run.verdict;
  const auto differing = schema::differing_keys(verdict.configuration, result_.run.current);
  const auto stays = [&](const std::string& key) {
    return std::find(differing.begin(), differing.end(), key) != differing.end();
  };
  for (const auto* list : {&doubts.needless, &doubts.undecided})
    for (const auto& key : *list)
      if (stays(key)) verdict.unproven.push_back(key);
  note_what_stays();
  return {};
}

bool WinnerSimplifier::has_time_without(const std::vector<std::string>& keys, const Configuration& simpler,
                                        double before_s) {
  const auto plan = pairs_.plan_for(result_.run.current, simpler, 1);
  if (pairs_.has_time_for(result_.run.current, simpler, plan, request_.fresh_finals, before_s)) return true;
  for (const auto& key : keys)
    if (std::find(no_time_without_.begin(), no_time_without_.end(), key) == no_time_without_.end())
      no_time_without_.push_back(key);
  return false;
}

Result<bool> WinnerSimplifier::is_as_good(const Configuration& simpler, const std::vector<std::string>& keys) {
  const double margin = result_.run.request.min_effect;
  if (simpler == fastest_) return true;
  const auto accepts = [&](const schema::TunedPair& pair) {
    if (!is_quick(result_.run)) return analysis::is_as_good(pair, margin);
    return pair.comparison && pair.comparison->verdict != schema::Verdict::slower;
  };
  for (const auto& pair : result_.run.pairs) {
    if (!pair.comparison || pair.a != fastest_ || pair.b != simpler) continue;
    if (pair.purpose == schema::PairPurpose::leave_one_out || pair.purpose == schema::PairPurpose::head_to_head)
      return accepts(pair);
  }
  const auto plan = pairs_.head_to_head_plan(fastest_, simpler);
  if (!has_time_without(keys, simpler, pairs_.expected_s(fastest_, simpler, plan, false))) return false;
  observer_.stage("comparing the simplified winner with the fastest");
  const auto measured = pairs_.measure(schema::PairPurpose::head_to_head, fastest_, simpler, "", plan);
  if (!measured && pairs_.was_cut(measured.error())) return false;
  RL_TRY_ASSIGN(const auto pair, measured);
  return accepts(pair);
}

Result<bool> WinnerSimplifier::leave_out(const std::vector<std::string>& keys) {
  auto& run = result_.run;
  const auto simpler = without_keys(run.verdict->configuration, keys);
  if (simpler == run.verdict->configuration || simpler == run.current || !spaces_.allows(simpler)) return false;
  int id = 0;
  for (const auto& trial : run.trials)
    if (trial.configuration == simpler) id = trial.id;
  if (!has_time_without(keys, simpler, id == 0 ? budget_.longest_trial_s() : 0)) return false;
  if (id == 0) {
    const auto measured =
        runner_.trial(simpler, schema::TrialStage::finalist, messages::winner_without(keys), std::nullopt, 0);
    if (!measured && pairs_.was_cut(measured.error())) return false;
    RL_TRY_ASSIGN(const auto outcome, measured);
    if (outcome.status != schema::TrialStatus::ok) return false;
    id = run.trials.back().id;
  }
  const auto ranking = analysis::rank(run, result_.outcomes);
  const auto place =
      std::find_if(ranking.begin(), ranking.end(), [&](const auto& ranked) { return ranked.trial->id == id; });
  if (place == ranking.end() || !place->meets_constraints) return false;
  if (!has_time_without(keys, simpler, 0)) return false;
  RL_TRY_ASSIGN(const bool as_good, is_as_good(simpler, keys));
  if (!as_good) return false;
  observer_.stage("comparing the simplified winner with the current configuration");
  const auto measured =
      pairs_.measure(schema::PairPurpose::finalist, run.current, simpler, "", pairs_.plan_for(run.current, simpler, 1));
  if (!measured && pairs_.was_cut(measured.error())) return false;
  RL_TRY_ASSIGN(const auto pair, measured);
  if (!pair.comparison || !analysis::proves_change(run, simpler, *pair.comparison)) return false;
  run.verdict->configuration = simpler;
  run.verdict->trial_id = id;
  run.verdict->gain = pair.comparison;
  return true;
}

}  // namespace ridgeline::campaign
