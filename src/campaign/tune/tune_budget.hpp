// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "campaign/budget.hpp"
#include "campaign/tune/candidate_spaces.hpp"
#include "campaign/tune/tune_campaign.hpp"
#include "measure/cost_estimate.hpp"
#include "search/searcher.hpp"

namespace ridgeline::campaign {

/// How long a run may take, predicted before anything of it was measured.
struct TimeForecast {
  std::size_t trials = 0;         ///< that the search is likely to try
  std::size_t comparisons = 0;    ///< after it, at most
  double low_s = 0;               ///< where times are steady at once
  double high_s = 0;              ///< where none ever is
  std::optional<double> limit_s;  ///< --max-time, which both are within
  bool by_default = false;        ///< that limit is TuneBudget::limit_by_default
  bool stored = false;            ///< the results file has runs of this model, whose trials take no time again
};

/// How long the steps of a run are likely to take (measure/cost_estimate.hpp), and what there is time for.
class TuneBudget : public Budget {
 public:
  /// All must outlive the budget.
  TuneBudget(const base::Clock& clock, const TuneRequest& request, const TuneResult& result,
             const CandidateSpaces& spaces)
      : Budget(clock, request.max_time), request_(request), result_(result), spaces_(spaces), binding_(is_limited()) {}

  /// Of a whole search on a GPU that nobody limits.
  static constexpr std::chrono::minutes kUsualLimit{5};
  /// Sets it.
  void limit_by_default();
  /// The limit ends what is under way, as the user's does. One that a quick search sets itself does not.
  [[nodiscard]] bool is_binding() const noexcept { return binding_; }
  /// So little of the user's time that compiling a PyTorch model takes much of it: the processes of the trials are
  /// compared, one of each configuration, as others would have to be made, and nothing else is measured.
  [[nodiscard]] bool is_short() const;
  /// Of these, one for which a compiled model may be too late.
  [[nodiscard]] bool is_very_short() const { return is_short() && limit_s() <= kVeryShortS; }
  /// What a request gets of the user's --max-time, `reserve_s` kept for what follows; where it works, it may go on for
  /// what a trial takes by plan, and `more_s`.
  [[nodiscard]] execute::TimeLeft time_left(double reserve_s, double more_s) const;
  /// The same of making another candidate, without which there is an answer too.
  [[nodiscard]] execute::TimeLeft time_for_candidate() const;
  /// The most for one exported model. Where time is limited, trials of others need the rest.
  [[nodiscard]] double export_limit_s() const;
  /// What a question beside the trials gets of it, of a runtime or a GPU: all, and a few seconds to end in.
  [[nodiscard]] execute::TimeLeft time_to_ask() const;
  /// The most that one trial gets of the user's --max-time where calls may be compiled, so that a compilation without
  /// end leaves time for the `remaining` ones; one that compiles nothing may have all that the search has. nullopt: no
  /// such limit.
  [[nodiscard]] std::optional<double> trial_limit_s(const schema::Configuration& configuration,
                                                    std::size_t remaining) const;
  /// Of the user's --max-time, for the comparison that follows the search.
  [[nodiscard]] double pair_reserve_s() const;

  /// What a search may plan with: what is expected may take longer.
  [[nodiscard]] double plannable_s() const;
  /// The same without the reserve that a search keeps where all of the time is for one comparison.
  [[nodiscard]] double whole_plannable_s() const;
  /// Whether there is no time for `next_s` more and the comparison after it, which any of `next` may be in. The search
  /// ends early enough for the comparisons, but a slow start does not take the first candidate's chance.
  [[nodiscard]] bool is_up(double next_s, const std::vector<search::Proposal>& next) const;
  /// The same of measuring these.
  [[nodiscard]] bool is_up(const std::vector<search::Proposal>& next) const;
  /// Early, as a search mostly ends when the time is just enough for its comparisons. One without fresh processes has
  /// no time for more than these.
  [[nodiscard]] bool has_time_for_graph() const;
  /// By the plans alone. `callers`: how many trials run side by side, at least 1.
  [[nodiscard]] TimeForecast forecast(std::size_t trials, std::size_t concurrency) const;

  /// These are being prepared in the background from now on, and those that are not named no longer are.
  void expect_prepared(const std::vector<schema::TrialSpec>& specs);
  /// Of these, those are there.
  void expect_made(std::set<schema::Configuration> made) { made_ = std::move(made); }
  /// Since that was asked for; 0: it was not.
  [[nodiscard]] double prepared_for_s(const schema::Configuration& configuration) const;
  /// Whether one of these, if it were there now, could still be measured and compared.
  [[nodiscard]] bool may_wait_for(const std::vector<schema::Configuration>& prepared) const;
  /// Whether the comparison after the search has to be prepared now, or it would have to wait for that.
  [[nodiscard]] bool ends_soon() const;
  /// The plan of a pair whose sessions are made in the background (measure::with_rounds_by_cost).
  [[nodiscard]] schema::PairedPlan with_rounds_by_cost(const schema::PairedPlan& plan, const schema::Configuration& a,
                                                       const schema::Configuration& b) const;
  [[nodiscard]] double expected_trial_s(const schema::Configuration& configuration) const;
  [[nodiscard]] double longest_trial_s() const { return measure::longest_trial_s(costs(false)); }
  /// In a fresh process.
  [[nodiscard]] double expected_isolated_s(const schema::Configuration& configuration) const;
  [[nodiscard]] double expected_graph_s() const;
  /// Of comparing `b` with `a`.
  [[nodiscard]] double expected_pair_s(const schema::PairedPlan& plan, bool fresh_process,
                                       const schema::Configuration& a, const schema::Configuration& b) const;
  /// Defaults, of other candidates too, that ran and did not meet the current configuration yet, the fastest first.
  [[nodiscard]] std::vector<schema::Configuration> candidates_to_compare() const;
  /// Of comparing the best trial so far with the current configuration; 0 before any trial went well.
  [[nodiscard]] double expected_final_s() const;
  [[nodiscard]] schema::PairedPlan fitted_plan(const schema::PairedPlan& plan, bool fresh_process,
                                               const schema::Configuration& a, const schema::Configuration& b,
                                               double left_s) const;

 private:
  /// Nobody limited the run, and without any trial there is no answer.
  [[nodiscard]] bool is_first_trial_free() const;
  static constexpr double kVeryShortS = 90;  // importing torch, and 30 to 45 s of compiling

  /// What a trial that is prepared in the background still takes; nullopt: it is not, or nothing tells.
  [[nodiscard]] std::optional<double> expected_prepared_s(const schema::Configuration& configuration) const;
  /// Until a session of one that has been tried, made again in the background, is there.
  [[nodiscard]] double ready_s(const schema::Configuration& configuration, double making_s) const;
  /// Of the limit, after which the search ends even if comparisons left more.
  [[nodiscard]] double search_share() const;
  /// A search for one answer that nothing explains.
  [[nodiscard]] bool has_one_pair() const { return request_.finalists == 1 && !request_.leave_one_out; }
  /// What everything leaves for running the code of the answer, where that is not settings alone.
  [[nodiscard]] double code_s() const;
  /// Of the fastest trial so far, made again; 0 where it does not compile.
  [[nodiscard]] double fastest_compile_s() const;
  /// Median of the fastest trial so far.
  [[nodiscard]] double fastest_call_s() const;
  /// What a search leaves for comparing the fastest with the fastest of another candidate, in a short run with any
  /// other, where either may be the faster.
  [[nodiscard]] double rival_s() const;
  [[nodiscard]] measure::TrialCosts costs(bool with_stored) const;
  [[nodiscard]] measure::TrialCost cost_of(const schema::Configuration& configuration) const;
  [[nodiscard]] measure::PairCost pair_cost(bool fresh_process, const schema::Configuration& a,
                                            const schema::Configuration& b) const;

  const TuneRequest& request_;
  const TuneResult& result_;
  const CandidateSpaces& spaces_;
  bool binding_;
  bool by_default_ = false;
  bool prepares_ = false;                             ///< in the background
  std::map<schema::Configuration, double> prepared_;  ///< elapsed_s() when it was asked for
  std::set<schema::Configuration> made_;
};

}  // namespace ridgeline::campaign
