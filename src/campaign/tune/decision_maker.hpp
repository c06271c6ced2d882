// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "campaign/tune/pair_schedule.hpp"

namespace ridgeline::campaign {

/// From search results to the run's answer: the fastest trials are compared head to head, the winner meets the current
/// configuration in fresh processes, and its settings are taken out one by one. A simpler configuration replaces the
/// fastest one only when it is shown to be at most the minimum effect slower than that (analysis::is_no_slower), by a
/// comparison of the two, however many simplifications led to it.
class DecisionMaker : private RunPart {
 public:
  DecisionMaker(RunContext& context, TrialRunner& runner, SpeedWatch& speed)
      : RunPart(context), runner_(runner), speed_(speed), pairs_(context, runner, speed) {}

  /// Sets run.verdict and returns true; false and no verdict where the machine turned out to be so much faster than in
  /// all of the search that this has to go on first, which happens kMostReturns times at most. `cut_short`: the time
  /// ended before the search, which an answer to keep has to say. Errors: the executor's or the store's own (cancelled
  /// included).
  [[nodiscard]] base::Result<bool> decide(bool cut_short = false);

  /// In a search that goes on for long: compares the fastest so far shortly with the current configuration, so that
  /// there may be an answer from then on. False: nothing looks faster yet. Errors: as of decide.
  [[nodiscard]] base::Result<bool> answer_early();

  /// The answer of a run that ended before decide: what was proven until then, else decision none, naming the best
  /// trial so far. `limit_s`: the limit that ended it, while `what` went on; nullopt: an interrupt.
  void give_up(std::optional<double> limit_s, const std::string& what);

 private:
  static constexpr int kMostReturns = 2;
  struct Contender {
    const analysis::RankedTrial* ranked = nullptr;
    std::optional<schema::Comparison> gain;
  };
  [[nodiscard]] std::vector<Contender> pick_finalists(const std::vector<analysis::RankedTrial>& ranking);
  /// The fastest meets what may be as fast side by side, as time allows; one alone goes on: the fastest, or a simpler
  /// one that is shown to be as good. On a GPU, where the order of trials that are this close is the chance of their
  /// sessions, that is also what is nearly as fast.
  [[nodiscard]] base::Result<void> compare_head_to_head(std::vector<Contender>& contenders,
                                                        const std::vector<analysis::RankedTrial>& ranking);
  [[nodiscard]] std::vector<const analysis::RankedTrial*> rivals_of(
      const std::vector<Contender>& contenders, const std::vector<analysis::RankedTrial>& ranking) const;
  [[nodiscard]] base::Result<void> compare(Contender& contender);
  /// Where the first contender came to less than its own time had promised, its rank was an error of that time: it
  /// meets the next ones that may be faster than what it came to, as time allows, and the fastest of them goes first.
  [[nodiscard]] base::Result<void> challenge(std::vector<Contender>& contenders,
                                             const std::vector<analysis::RankedTrial>& ranking,
                                             const analysis::RankedTrial* current);
  /// That of the schedule, with a note where what was cut costs certainty.
  [[nodiscard]] schema::PairedPlan decisive_plan(const schema::Configuration& configuration);
  [[nodiscard]] bool beats(const schema::Configuration& a, const schema::Configuration& b) const;
  /// Whether a quick search, which adds nothing that is not proven, takes the simpler `b` in place of `a`: nothing
  /// shows it to be slower, and a machine that was slow meanwhile slowed both alike. `pair`: the two compared; unset:
  /// they were not.
  [[nodiscard]] bool may_stand_in(const schema::Configuration& a, const schema::Configuration& b,
                                  const std::optional<schema::TunedPair>& pair) const;
  void conclude(schema::Decision decision, schema::Message reason);
  /// The fastest of what is proven to be faster than the current configuration; nullptr: nothing is.
  [[nodiscard]] const schema::TunedPair* best_proven(const std::vector<analysis::RankedTrial>& ranking) const;
  /// Concludes where there is nothing to compare, or nothing was to be compared.
  [[nodiscard]] bool concludes_uncompared(const std::vector<analysis::RankedTrial>& ranking);
  /// Concludes to keep the current configuration, `current` in the ranking if it is there.
  void keep(const std::vector<Contender>& contenders, const analysis::RankedTrial* current, bool cut_short);
  /// Why it keeps the current configuration, of what was compared.
  [[nodiscard]] schema::Message reason_to_keep(const std::vector<Contender>& contenders, bool cut_short) const;
  /// Where another runtime is faster but not by enough to install it, the best that runs on the current one.
  [[nodiscard]] base::Result<void> try_own_runtime(std::vector<Contender>& contenders,
                                                   const std::vector<analysis::RankedTrial>& ranking);
  /// The contender that beats the current configuration; nullptr: none. The first was compared already.
  [[nodiscard]] base::Result<const Contender*> find_winner(std::vector<Contender>& contenders,
                                                           const std::vector<analysis::RankedTrial>& ranking,
                                                           bool current_is_legal);
  /// What decide returns where the search has to go on first.
  [[nodiscard]] bool start_over();
  /// Concludes that there is no answer where the objective is a percentile that the trial's samples do not support.
  [[nodiscard]] bool lacks_percentile(const analysis::RankedTrial& ranked);
  /// Of an uneven machine, the trial whose cost is surely the lowest; else `first`.
  [[nodiscard]] const analysis::RankedTrial* surest_of(const std::vector<analysis::RankedTrial>& ranking,
                                                       const analysis::RankedTrial& first) const;
  /// The simplest of the best trials that keep as many CPUs busy as `like`: what the machine's changes did to them is
  /// alike. nullptr: none.
  [[nodiscard]] const analysis::RankedTrial* simplest_like(const std::vector<analysis::RankedTrial>& ranking,
                                                           const analysis::RankedTrial& like) const;
  /// Where the finalists do not win on an uneven machine, their times were wrong: the surest of the other trials meet
  /// the current configuration, as time allows, until one wins.
  [[nodiscard]] base::Result<void> try_others(std::vector<Contender>& contenders,
                                              const std::vector<analysis::RankedTrial>& ranking,
                                              const std::function<bool(const Contender&)>& wins);
  /// Whether the two were compared head to head.
  [[nodiscard]] bool has_met(const schema::Configuration& a, const schema::Configuration& b) const;
  /// Not the current configuration, within the constraints, and measured to the end.
  [[nodiscard]] bool may_win(const analysis::RankedTrial& ranked) const;

  /// Since decide began the machine was seen much faster than ever before.
  [[nodiscard]] bool is_outdated() const;

  TrialRunner& runner_;
  SpeedWatch& speed_;
  PairSchedule pairs_;
  schema::Configuration fastest_;  ///< of those that met each other, before any simplification
  double quiet_cost_ = 0;          ///< SpeedWatch::lowest_quiet_cost when decide began
  int returns_ = 0;
};

}  // namespace ridgeline::campaign
