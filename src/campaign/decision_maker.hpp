// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "campaign/pair_schedule.hpp"
#include "search/search_space.hpp"

namespace ridgeline::campaign {

/// From search results to the run's answer: the best few are compared with the current configuration, interleaved and
/// in fresh processes; the winner's settings are taken out one by one; what was not shown to add anything is dropped.
class DecisionMaker {
 public:
  /// `time_left_s` gives the rest of --max-time (infinite without one), `cancelled` is polled between comparisons.
  DecisionMaker(TrialRunner& runner, const TuneRequest& request, const search::SearchSpace& space, TuneResult& result,
                CampaignObserver& observer, std::function<double()> time_left_s, std::function<bool()> cancelled);

  /// Sets run.verdict. `cut_short`: the time ended before the search, which an answer to keep has to say. Errors: the
  /// executor's or the store's own (cancelled included).
  [[nodiscard]] base::Result<void> decide(bool cut_short = false);

  /// The answer when the run ended before the comparisons: decision none, naming the best trial so far. `why` says what
  /// ended it ("interrupted"), `next` what to do.
  void give_up(std::string_view why, std::string_view next);

 private:
  struct Contender {
    const analysis::RankedTrial* ranked = nullptr;
    std::optional<schema::Comparison> gain;
  };
  [[nodiscard]] std::vector<Contender> pick_finalists(const std::vector<analysis::RankedTrial>& ranking);
  /// On a GPU, where the order of trials that are this close is the chance of their sessions: the fastest meets what is
  /// nearly as fast side by side, as time allows, and the winner alone goes on.
  [[nodiscard]] base::Result<void> duel(std::vector<Contender>& contenders,
                                        const std::vector<analysis::RankedTrial>& ranking);
  [[nodiscard]] base::Result<void> compare(std::vector<Contender>& contenders);
  [[nodiscard]] const Contender* choose(const std::vector<Contender>& contenders, bool current_is_legal) const;
  /// What leave-one-out says against the winner.
  struct Doubts {
    std::vector<std::string> unproven;  ///< settings that no comparison showed to add anything
    std::optional<std::string>
        harmful;  ///< the one of them without which the winner was faster, side by side (by most)
  };
  [[nodiscard]] base::Result<Doubts> leave_one_out(const schema::Configuration& winner);
  /// Takes `keys` out of the verdict if what is left beats the current configuration and, when `as_good_as` is given,
  /// can stand in for that gain. False when the verdict stays.
  [[nodiscard]] base::Result<bool> simplify(const std::vector<std::string>& keys,
                                            const std::optional<schema::Comparison>& as_good_as);
  /// Of what has no time to be taken out, one note.
  void note_what_stays();
  /// That of the schedule, with a note where what was cut costs certainty.
  [[nodiscard]] schema::PairedPlan decisive_plan(const schema::Configuration& configuration);
  [[nodiscard]] bool beats(const schema::Configuration& a, const schema::Configuration& b) const;
  /// For the report, and for whoever watches.
  void note(std::string text);
  void conclude(schema::Decision decision, std::string reason);
  /// Concludes that there is no answer where the objective is a percentile that the trial's samples do not support.
  [[nodiscard]] bool lacks_percentile(const analysis::RankedTrial& ranked);
  /// Whether --max-time ended it; then the run has a note of it.
  template <typename T>
  [[nodiscard]] bool was_cut(const base::Result<T>& measured);
  /// Not the current configuration, within the constraints, and measured to the end.
  [[nodiscard]] bool may_win(const analysis::RankedTrial& ranked) const;

  TrialRunner& runner_;
  const TuneRequest& request_;
  const search::SearchSpace& space_;
  TuneResult& result_;
  CampaignObserver& observer_;
  PairSchedule pairs_;
  std::vector<std::string> no_time_without_;  // settings that there was no time to take out
  std::function<bool()> cancelled_;
};

}  // namespace ridgeline::campaign
