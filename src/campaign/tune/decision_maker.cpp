// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/decision_maker.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/comparison.hpp"
#include "analysis/comparison_text.hpp"
#include "analysis/device_learning.hpp"
#include "analysis/machine_speed.hpp"
#include "analysis/proof.hpp"
#include "analysis/ranking.hpp"
#include "campaign/messages.hpp"
#include "campaign/tune/busy_cpus.hpp"
#include "campaign/tune/current_replacement.hpp"
#include "campaign/tune/unusable_trials.hpp"
#include "campaign/tune/winner_simplifier.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::campaign {

using base::Result;
using schema::Comparison;
using schema::Configuration;

namespace {

constexpr int kMostHeadToHeads = 2;
constexpr int kEarlyRounds = 8;  // ABBA rounds of a first answer, as of a quick search
constexpr int kMostEarlyRounds = 12;
constexpr double kEarlyS = 3;
constexpr int kMostChallengers = 3;  // of a leader that came to less than it promised
constexpr std::size_t kMostOthers =
    3;  // that are tried where the finalists lose against what they were expected to beat
constexpr double kNotablyQuicker = 0.9;    // than another's comparison: less is chance
constexpr double kGivenAwayForTime = 0.1;  // at most, where one comparison is all that there is time for

/// Closest to the current configuration, then fewest settings.
std::pair<std::size_t, std::size_t> complexity(const Configuration& configuration, const Configuration& current) {
  return {schema::differing_keys(configuration, current).size(), configuration.size()};
}

}  // namespace

void DecisionMaker::conclude(schema::Decision decision, schema::Message reason) {
  auto& verdict = result_.run.verdict.emplace();
  verdict.decision = decision;
  verdict.reason = std::move(reason);
  verdict.configuration = result_.run.current;
}

void DecisionMaker::give_up(std::optional<double> limit_s, const std::string& what) {
  const auto ranking = analysis::rank(result_.run, result_.outcomes);
  if (ranking.empty() || !ranking.front().meets_constraints) {
    conclude(schema::Decision::none, messages::ended_before_any({.limit_s = limit_s, .what = what}));
    return;
  }
  if (const auto* proven = best_proven(ranking)) {
    const int trial = analysis::trial_of(ranking, proven->b)->id;
    conclude(schema::Decision::change,
             messages::first_answer_stands(
                 {.trial = trial, .gain = analysis::gain_of(*proven->comparison), .limit_s = limit_s, .what = what}));
    auto& verdict = *result_.run.verdict;
    verdict.configuration = proven->b;
    verdict.trial_id = trial;
    verdict.gain = proven->comparison;
    return;
  }
  const auto& best = ranking.front();
  conclude(schema::Decision::none,
           messages::ended_before_comparisons({.limit_s = limit_s,
                                               .trial = best.trial->id,
                                               .configuration = best.trial->configuration.to_text(),
                                               .fresh = !request_.use_store,
                                               .what = what}));
  result_.run.verdict->trial_id = best.trial->id;
}

const schema::TunedPair* DecisionMaker::best_proven(const std::vector<analysis::RankedTrial>& ranking) const {
  const auto& run = result_.run;
  for (const auto& ranked : ranking) {
    if (!may_win(ranked)) continue;
    const auto& configuration = ranked.trial->configuration;
    for (auto pair = run.pairs.rbegin(); pair != run.pairs.rend(); ++pair)
      if (pair->purpose == schema::PairPurpose::finalist && pair->a == run.current && pair->b == configuration &&
          pair->comparison && analysis::is_of_quiet_machine(*pair) &&
          analysis::proves_change(run, configuration, *pair->comparison))
        return &*pair;
  }
  return nullptr;
}

Result<bool> DecisionMaker::answer_early() {
  const auto& run = result_.run;
  const auto ranking = analysis::rank(run, result_.outcomes);
  const auto of = [&](const auto& matches) { return std::find_if(ranking.begin(), ranking.end(), matches); };
  const auto best = of([&](const auto& ranked) { return may_win(ranked); });
  const auto current = of([&](const auto& ranked) { return ranked.trial->configuration == run.current; });
  if (request_.finalists == 0 || run.request.objective == schema::Objective::p99 || best == ranking.end() ||
      current == ranking.end() || !current->meets_constraints ||
      best->cost.value * (1 + run.request.min_effect) > current->cost.value)
    return false;
  const auto& configuration = best->trial->configuration;
  auto plan = pairs_.decisive_plan(configuration);
  plan.rounds = plan.max_rounds = 1;
  plan.abba_rounds = std::min(plan.abba_rounds, kEarlyRounds);
  plan.max_abba_rounds = std::min(plan.max_abba_rounds, kMostEarlyRounds);
  plan.max_time_s = std::min(plan.max_time_s, kEarlyS);
  plan.min_time_s = std::min(plan.min_time_s, plan.max_time_s);
  observer_.stage(fmt::format("a first answer: trial {} and the current configuration, interleaved", best->trial->id));
  const auto measured = pairs_.measure(schema::PairPurpose::finalist, run.current, configuration, "", plan);
  if (!measured && pairs_.was_cut(measured.error())) return true;
  RL_TRY(measured);
  if (const auto* proven = best_proven(ranking))
    context_.note(messages::first_answer({.elapsed = budget_.elapsed_s() * 1e9,
                                          .trial = best->trial->id,
                                          .gain = analysis::gain_of(*proven->comparison),
                                          .configuration = configuration.to_text()}));
  return true;
}

std::vector<DecisionMaker::Contender> DecisionMaker::pick_finalists(const std::vector<analysis::RankedTrial>& ranking) {
  std::vector<Contender> contenders;
  const auto add = [&](const analysis::RankedTrial* ranked) {
    if (ranked == nullptr || !may_win(*ranked) || contenders.size() >= request_.finalists) return;
    for (const auto& known : contenders)
      if (known.ranked->trial->configuration == ranked->trial->configuration) return;
    contenders.push_back({ranked, std::nullopt});
  };
  // Where the time would not last for the best, a tie that is quicker to set up stands in for it; where even a shorter
  // comparison would not end in time, also what is nearly as fast.
  const auto* first = &ranking.front();
  const auto cost_of = [&](const analysis::RankedTrial& ranked) { return pairs_.final_s(ranked.trial->configuration); };
  const auto stand_in = [&](const auto& may) {
    for (const auto& ranked : ranking)
      if (may(ranked) && may_win(ranked) && cost_of(ranked) < kNotablyQuicker * cost_of(*first)) first = &ranked;
  };
  if (cost_of(*first) > budget_.plannable_s()) {
    stand_in([](const auto& ranked) { return ranked.rank == 1; });
    const double reach = ranking.front().cost.value * (1 + kGivenAwayForTime);
    if (pairs_.decisive_s(first->trial->configuration) > budget_.whole_plannable_s()) {
      stand_in([&](const auto& ranked) { return ranked.cost.value <= reach; });
      if (first->rank != 1 && may_win(ranking.front()))
        context_.note(
            messages::faster_not_compared({.trial = ranking.front().trial->id, .time_s = cost_of(ranking.front())}));
    }
  }
  // Where the machine was uneven, the first by corrected times may be so by an error: the surest goes before it, and it
  // has to show that it is faster.
  const auto* surest = surest_of(ranking, *first);
  add(surest);
  if (is_quick(result_.run)) add(simplest_like(ranking, *surest));
  add(first);
  add(analysis::simplest_of_best(ranking, result_.run.current));
  for (const auto& ranked : ranking)
    if (ranked.rank == 1) add(&ranked);
  if (contenders.empty())
    for (const auto& ranked : ranking) add(&ranked);
  return contenders;
}

const analysis::RankedTrial* DecisionMaker::simplest_like(const std::vector<analysis::RankedTrial>& ranking,
                                                          const analysis::RankedTrial& like) const {
  const double cpus = busy_cpus(result_.run, like.trial->configuration);
  std::vector<analysis::RankedTrial> alike;
  for (const auto& ranked : ranking)
    if (may_win(ranked) && !stats::is_too_wide(ranked.cost.interval.low, ranked.cost.interval.high) &&
        busy_cpus(result_.run, ranked.trial->configuration) == cpus)
      alike.push_back(ranked);
  const auto* simplest = analysis::simplest_of_best(alike, result_.run.current);
  if (simplest == nullptr) return nullptr;
  return &*std::find_if(ranking.begin(), ranking.end(),
                        [&](const auto& ranked) { return ranked.trial == simplest->trial; });
}

const analysis::RankedTrial* DecisionMaker::surest_of(const std::vector<analysis::RankedTrial>& ranking,
                                                      const analysis::RankedTrial& first) const {
  const auto* surest = &first;
  if (!analysis::was_uneven(result_.run)) return surest;
  for (const auto& ranked : ranking)
    if (may_win(ranked) && ranked.cost.interval.high < surest->cost.interval.high) surest = &ranked;
  return surest;
}

bool DecisionMaker::may_win(const analysis::RankedTrial& ranked) const {
  return ranked.meets_constraints && ranked.trial->configuration != result_.run.current &&
         ranked.outcome->measurement->stop_reason != schema::StopReason::stopped_early;
}

std::vector<const analysis::RankedTrial*> DecisionMaker::rivals_of(
    const std::vector<Contender>& contenders, const std::vector<analysis::RankedTrial>& ranking) const {
  std::vector<const analysis::RankedTrial*> rivals;
  if (!result_.run.on_gpu()) {
    const auto& first = *contenders.front().ranked;
    for (std::size_t i = 1; i < contenders.size(); ++i) {
      const auto& rival = *contenders[i].ranked;
      // By their own times it may be this much faster; less is not worth the while, unless it is simpler.
      const double promise = first.cost.interval.high / rival.cost.interval.low - 1;
      if (promise > result_.run.request.min_effect / 2 || beats(rival.trial->configuration, first.trial->configuration))
        rivals.push_back(&rival);
    }
    return rivals;
  }
  const double reach = contenders.front().ranked->cost.value * (1 + analysis::session_reach(result_.learned));
  for (const auto& rival : ranking)
    if (rival.cost.value <= reach && may_win(rival) &&
        rival.trial->configuration != contenders.front().ranked->trial->configuration &&
        (result_.run.request.objective != schema::Objective::p99 || rival.summary.p99_ns))
      rivals.push_back(&rival);
  return rivals;
}

Result<void> DecisionMaker::compare_head_to_head(std::vector<Contender>& contenders,
                                                 const std::vector<analysis::RankedTrial>& ranking) {
  if (contenders.empty()) return {};
  const auto* champion = contenders.front().ranked;
  // What met the champion and was shown to be as good: it may stand in for it.
  std::vector<const analysis::RankedTrial*> as_good;
  int made = 0;
  if (request_.finalists > 1) {
    for (const auto* rival : rivals_of(contenders, ranking)) {
      RL_TRY(context_.check_cancelled());
      if (made == kMostHeadToHeads) break;
      const auto& a = champion->trial->configuration;
      const auto& b = rival->trial->configuration;
      if (a == b) continue;
      const bool simpler = beats(b, a);
      const auto plan = pairs_.head_to_head_plan(a, b);
      if (pairs_.expected_s(a, b, plan, false) + std::max(pairs_.final_s(a), pairs_.final_s(b)) >
          budget_.plannable_s()) {
        if (simpler && rival->rank == 1 && may_stand_in(a, b, std::nullopt)) as_good.push_back(rival);
        continue;
      }
      observer_.stage(fmt::format("trial {} against trial {}, head to head", champion->trial->id, rival->trial->id));
      const auto measured = pairs_.measure(schema::PairPurpose::head_to_head, a, b, "", plan);
      if (!measured && pairs_.was_cut(measured.error())) break;
      RL_TRY_ASSIGN(const auto pair, measured);
      ++made;
      if (!pair.comparison || pair.comparison->abba_rounds == 0) continue;
      if (!analysis::is_of_quiet_machine(pair)) {
        if (simpler && may_stand_in(a, b, pair)) as_good.push_back(rival);
        continue;
      }
      const auto& found = *pair.comparison;
      if (found.ratio > 1 + (simpler ? 0 : result_.run.request.min_effect / 4)) {
        as_good.clear();  // they met another
        if (analysis::is_no_slower(analysis::inverted(found), result_.run.request.min_effect))
          as_good.push_back(champion);
        champion = rival;
      } else if (analysis::is_no_slower(found, result_.run.request.min_effect) ||
                 (simpler && may_stand_in(a, b, pair))) {
        as_good.push_back(rival);
      }
    }
  }
  fastest_ = champion->trial->configuration;
  // Among those that are as good, the simplest, then the one with the least memory.
  const auto* chosen = champion;
  for (const auto* other : as_good) {
    const auto& a = other->trial->configuration;
    const auto& b = chosen->trial->configuration;
    if (beats(a, b) ||
        (!beats(b, a) && other->outcome->measurement->peak_rss_bytes < chosen->outcome->measurement->peak_rss_bytes))
      chosen = other;
  }
  // The fastest is not lost where the simpler one does not gain enough over the current configuration.
  contenders = {{chosen, std::nullopt}};
  if (chosen != champion) contenders.push_back({champion, std::nullopt});
  return {};
}

schema::PairedPlan DecisionMaker::decisive_plan(const Configuration& configuration) {
  auto plan = pairs_.decisive_plan(configuration);
  if (plan.rounds < pairs_.plan_for(result_.run.current, configuration, 1).rounds)
    context_.note(messages::compared_over_one_pair());
  else if (budget_.is_short())
    context_.note(messages::compared_as_tried());
  return plan;
}

Result<void> DecisionMaker::compare(Contender& contender) {
  RL_TRY(context_.check_cancelled());
  const auto& configuration = contender.ranked->trial->configuration;
  observer_.stage(
      fmt::format("comparing trial {} with the current configuration, interleaved", contender.ranked->trial->id));
  RL_TRY_ASSIGN(const auto pair, pairs_.measure(schema::PairPurpose::finalist, result_.run.current, configuration, "",
                                                decisive_plan(configuration)));
  contender.gain = pair.comparison;
  // It takes the place of the short one that answer_early made.
  std::erase_if(result_.run.pairs, [&](const auto& other) {
    return other.purpose == pair.purpose && other.a == pair.a && other.b == pair.b && other.key != pair.key;
  });
  return {};
}

Result<void> DecisionMaker::try_others(std::vector<Contender>& contenders,
                                       const std::vector<analysis::RankedTrial>& ranking,
                                       const std::function<bool(const Contender&)>& wins) {
  if (request_.finalists < 2 || !analysis::was_uneven(result_.run)) return {};
  std::vector<const analysis::RankedTrial*> others;
  for (const auto& ranked : ranking)
    if (may_win(ranked) &&
        std::none_of(contenders.begin(), contenders.end(), [&](const auto& known) { return known.ranked == &ranked; }))
      others.push_back(&ranked);
  std::stable_sort(others.begin(), others.end(),
                   [](const auto* a, const auto* b) { return a->cost.interval.high < b->cost.interval.high; });
  others.resize(std::min(others.size(), kMostOthers));
  for (const auto* other : others) {
    if (pairs_.final_s(other->trial->configuration) > budget_.plannable_s()) continue;
    contenders.push_back({other, std::nullopt});
    RL_TRY(compare(contenders.back()));
    if (wins(contenders.back())) return {};
  }
  return {};
}

bool DecisionMaker::may_stand_in(const Configuration& a, const Configuration& b,
                                 const std::optional<schema::TunedPair>& pair) const {
  const auto& run = result_.run;
  if (!is_quick(run)) return false;
  const bool alike = busy_cpus(run, a) == busy_cpus(run, b);
  if (!pair || !pair->comparison) return alike;
  const auto& found = *pair->comparison;
  return (alike || analysis::is_of_quiet_machine(*pair)) && found.verdict != schema::Verdict::slower &&
         found.ratio * (1 + run.request.min_effect) >= 1 && found.low * (1 + kGivenAwayForTime) >= 1;
}

Result<void> DecisionMaker::challenge(std::vector<Contender>& contenders,
                                      const std::vector<analysis::RankedTrial>& ranking,
                                      const analysis::RankedTrial* current) {
  auto& run = result_.run;
  const auto leader = contenders.front();
  if (request_.finalists < 2 || current == nullptr || !leader.gain || leader.gain->abba_rounds == 0) return {};
  const double promised = current->cost.value / leader.ranked->cost.value;
  if (promised <= leader.gain->high * (1 + run.request.min_effect)) return {};
  const double reached = current->cost.value / leader.gain->ratio;
  const auto* champion = leader.ranked;
  int made = 0;
  for (const auto& rival : ranking) {
    if (made == kMostChallengers) break;
    if (rival.cost.interval.low >= reached) continue;
    const auto& a = champion->trial->configuration;
    const auto& b = rival.trial->configuration;
    if (!may_win(rival) || a == b || has_met(a, b)) continue;
    const auto plan = pairs_.head_to_head_plan(a, b);
    if (pairs_.expected_s(a, b, plan, false) + pairs_.final_s(b) > budget_.plannable_s()) continue;
    RL_TRY(context_.check_cancelled());
    observer_.stage(fmt::format("trial {} against trial {}, as it came to less than its own time promised",
                                champion->trial->id, rival.trial->id));
    const auto measured = pairs_.measure(schema::PairPurpose::head_to_head, a, b, "", plan);
    if (!measured && pairs_.was_cut(measured.error())) break;
    RL_TRY_ASSIGN(const auto pair, measured);
    ++made;
    if (pair.comparison && pair.comparison->abba_rounds > 0 && analysis::is_of_quiet_machine(pair) &&
        pair.comparison->verdict == schema::Verdict::faster)
      champion = &rival;
  }
  if (champion == leader.ranked) return {};
  fastest_ = champion->trial->configuration;
  contenders.insert(contenders.begin(), {champion, std::nullopt});
  return compare(contenders.front());
}

bool DecisionMaker::has_met(const Configuration& a, const Configuration& b) const {
  return std::any_of(result_.run.pairs.begin(), result_.run.pairs.end(), [&](const auto& pair) {
    return pair.purpose == schema::PairPurpose::head_to_head && pair.comparison &&
           ((pair.a == a && pair.b == b) || (pair.a == b && pair.b == a));
  });
}

bool DecisionMaker::beats(const Configuration& a, const Configuration& b) const {
  return complexity(a, result_.run.current) < complexity(b, result_.run.current);
}

bool DecisionMaker::lacks_percentile(const analysis::RankedTrial& ranked) {
  if (result_.run.request.objective != schema::Objective::p99 || ranked.summary.p99_ns) return false;
  conclude(schema::Decision::none,
           messages::percentile_lacks_samples({.trial = ranked.trial->id,
                                               .samples = static_cast<std::int64_t>(ranked.summary.count),
                                               .needed = static_cast<std::int64_t>(stats::samples_needed(0.99))}));
  return true;
}

bool DecisionMaker::is_outdated() const {
  return returns_ < kMostReturns && request_.finalists > 1 &&
         speed_.lowest_quiet_cost() < quiet_cost_ * std::exp(-SpeedWatch::kSlow);
}

bool DecisionMaker::start_over() {
  ++returns_;
  result_.run.verdict.reset();
  pairs_.start_over();
  context_.note(messages::machine_became_faster());
  return false;
}

bool DecisionMaker::concludes_uncompared(const std::vector<analysis::RankedTrial>& ranking) {
  auto& run = result_.run;
  if (ranking.empty()) {
    conclude(schema::Decision::none, why_none_is_usable(result_));
    return true;
  }
  const auto& best = ranking.front();
  if (!best.meets_constraints) {
    conclude(schema::Decision::none,
             messages::constraints_not_met({.trial = best.trial->id, .constraint = best.broken_constraint}));
    return true;
  }
  if (request_.finalists > 0) return false;
  conclude(schema::Decision::none,
           messages::nothing_compared_as_asked(
               {.trial = best.trial->id, .configuration = best.trial->configuration.to_text()}));
  run.verdict->trial_id = best.trial->id;
  return true;
}

Result<void> DecisionMaker::try_own_runtime(std::vector<Contender>& contenders,
                                            const std::vector<analysis::RankedTrial>& ranking) {
  const auto& run = result_.run;
  const auto is_own = [&](const auto& ranked) { return !analysis::changes_runtime(run, ranked.trial->configuration); };
  if (std::any_of(contenders.begin(), contenders.end(), [&](const auto& one) { return is_own(*one.ranked); }))
    return {};
  const auto best = std::find_if(ranking.begin(), ranking.end(),
                                 [&](const auto& ranked) { return is_own(ranked) && may_win(ranked); });
  if (best == ranking.end() || pairs_.final_s(best->trial->configuration) > budget_.plannable_s()) return {};
  contenders.push_back({&*best, std::nullopt});
  return compare(contenders.back());
}

Result<const DecisionMaker::Contender*> DecisionMaker::find_winner(std::vector<Contender>& contenders,
                                                                   const std::vector<analysis::RankedTrial>& ranking,
                                                                   bool current_is_legal) {
  if (contenders.empty()) return nullptr;
  const auto wins = [&](const Contender& contender) {
    const auto& configuration = contender.ranked->trial->configuration;
    if (!current_is_legal && !analysis::changes_runtime(result_.run, configuration)) return true;
    return contender.gain && analysis::proves_change(result_.run, configuration, *contender.gain);
  };
  const auto has_winner = [&] { return std::any_of(contenders.begin(), contenders.end(), wins); };
  if (!wins(contenders.front()) && contenders.size() > 1 &&
      pairs_.final_s(contenders.back().ranked->trial->configuration) < budget_.plannable_s())
    RL_TRY(compare(contenders.back()));
  if (!has_winner()) RL_TRY(try_own_runtime(contenders, ranking));
  if (!has_winner()) RL_TRY(try_others(contenders, ranking, wins));
  const auto winner = std::find_if(contenders.begin(), contenders.end(), wins);
  if (winner != contenders.end()) return &*winner;
  return current_is_legal ? nullptr : &contenders.front();
}

schema::Message DecisionMaker::reason_to_keep(const std::vector<Contender>& contenders, bool cut_short) const {
  const auto& run = result_.run;
  if (!analysis::tried_others(run)) return cut_short ? messages::time_for_current_only() : messages::no_other_tried();
  if (const auto* undecided = analysis::undecided_finalist(run)) {
    int id = 0;
    for (const auto& contender : contenders)
      if (contender.ranked->trial->configuration == undecided->b) id = contender.ranked->trial->id;
    const auto& found = *undecided->comparison;
    return messages::not_decided(analysis::looks_slower(found, run.request.min_effect)
                                     ? messages::may_be_faster({.trial = id, .low = found.low, .high = found.high})
                                     : messages::interval_too_wide({.trial = id, .gain = analysis::gain_of(found)}));
  }
  const auto nearest = std::max_element(contenders.begin(), contenders.end(), [](const auto& a, const auto& b) {
    return (a.gain ? a.gain->ratio : 0) < (b.gain ? b.gain->ratio : 0);
  });
  const bool has_current = std::any_of(run.trials.begin(), run.trials.end(),
                                       [&](const auto& trial) { return trial.configuration == run.current; });
  messages::NothingBeatIt reason;
  reason.least = run.request.min_effect;
  if (cut_short) reason.others = static_cast<std::int64_t>(run.trials.size() - (has_current ? 1 : 0));
  if (nearest != contenders.end() && nearest->gain) {
    const auto& configuration = nearest->ranked->trial->configuration;
    const int trial = nearest->ranked->trial->id;
    auto gain = analysis::gain_of(*nearest->gain);
    if (nearest->gain->verdict == schema::Verdict::faster && analysis::changes_runtime(run, configuration))
      return messages::other_runtime_not_enough({.trial = trial,
                                                 .gain = std::move(gain),
                                                 .candidate = schema::candidate_of(configuration),
                                                 .least = run.request.min_effect});
    reason.slower = analysis::looks_slower(*nearest->gain, run.request.min_effect);
    reason.trial = trial;
    reason.gain = std::move(gain);
  }
  return messages::nothing_beat_it(reason);
}

void DecisionMaker::keep(const std::vector<Contender>& contenders, const analysis::RankedTrial* current,
                         bool cut_short) {
  conclude(schema::Decision::keep, reason_to_keep(contenders, cut_short));
  result_.run.verdict->undecided = analysis::is_undecided(result_.run);
  if (current != nullptr) result_.run.verdict->trial_id = current->trial->id;
}

Result<bool> DecisionMaker::decide(bool cut_short) {
  quiet_cost_ = speed_.lowest_quiet_cost();
  auto& run = result_.run;
  const auto ranking = analysis::rank(run, result_.outcomes);
  if (concludes_uncompared(ranking)) return true;
  std::vector<int> ties;
  const analysis::RankedTrial* current = nullptr;
  for (const auto& ranked : ranking) {
    if (ranked.rank == 1 && ranked.meets_constraints) ties.push_back(ranked.trial->id);
    if (current == nullptr && ranked.trial->configuration == run.current) current = &ranked;
  }
  if (current == nullptr) {
    RL_TRY(CurrentReplacement(context_, pairs_).decide(ranking));
    run.verdict->tied_with = std::move(ties);
    return true;
  }
  const bool current_is_legal = current->meets_constraints;
  auto contenders = pick_finalists(ranking);
  if (lacks_percentile(*current)) return true;
  for (const auto& contender : contenders)
    if (lacks_percentile(*contender.ranked)) return true;
  RL_TRY(compare_head_to_head(contenders, ranking));
  if (is_outdated()) return start_over();
  if (!contenders.empty()) {
    RL_TRY(compare(contenders.front()));
    RL_TRY(challenge(contenders, ranking, current));
  }
  if (is_outdated()) return start_over();
  RL_TRY_ASSIGN(const auto* chosen, find_winner(contenders, ranking, current_is_legal));
  if (chosen == nullptr && !current_is_legal) {
    conclude(schema::Decision::none, messages::all_break_constraint(current->broken_constraint));
    return true;
  }
  if (chosen == nullptr) {
    keep(contenders, current, cut_short);
    run.verdict->tied_with = std::move(ties);
    return true;
  }
  conclude(schema::Decision::change, {});
  auto& verdict = *run.verdict;
  verdict.configuration = chosen->ranked->trial->configuration;
  verdict.trial_id = chosen->ranked->trial->id;
  verdict.gain = chosen->gain;
  verdict.tied_with = std::move(ties);
  if (request_.leave_one_out && chosen->gain && current_is_legal) {
    RL_TRY(WinnerSimplifier(context_, runner_, pairs_, fastest_).simplify());
    if (is_outdated()) return start_over();
  }
  verdict.reason =
      current_is_legal
          ? messages::trial_is_faster({.trial = verdict.trial_id,
                                       .gain = verdict.gain ? analysis::gain_of(*verdict.gain) : schema::Message()})
          : messages::best_that_meets({.constraint = current->broken_constraint, .trial = verdict.trial_id});
  return true;
}

}  // namespace ridgeline::campaign
