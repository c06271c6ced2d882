// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "campaign/tune/earlier_runs.hpp"
#include "campaign/tune/running_forecast.hpp"
#include "campaign/tune/session_limit.hpp"
#include "campaign/tune/speed_watch.hpp"

namespace ridgeline::campaign {

/// The search of one run: proposals are measured, what was measured is corrected by the machine's speed at that moment,
/// and what the machine's changes left in doubt and may matter is taken again, before the searcher builds on it.
class SearchLoop : private RunPart {
 public:
  /// All must outlive the loop. `on_current` is called once, when the current configuration was measured; `on_long`
  /// before a search that goes on for long, until it returns true.
  SearchLoop(RunContext& context, TrialRunner& runner, SpeedWatch& speed, search::Searcher& searcher,
             std::function<void()> on_current, std::function<base::Result<bool>()> on_long)
      : RunPart(context),
        runner_(runner),
        speed_(speed),
        searcher_(searcher),
        earlier_(context.store, context.result.run),
        on_current_(std::move(on_current)),
        on_long_(std::move(on_long)),
        forecast_(context) {}

  /// Until the searcher has finished or the time is up. True where the time ended it. Errors: those of TrialRunner.
  /// Called again it goes on where what is known of the machine has changed.
  [[nodiscard]] base::Result<bool> run();
  /// Tells the run's record what was left out, and who watches that the machine was uneven.
  void finish();

 private:
  /// What is known of a trial beside the run's record.
  struct Seen {
    search::Observation observation;                ///< as measured
    std::optional<double> limit;                    ///< Proposal::stop_above, for quiet times
    std::optional<schema::Comparison> interleaved;  ///< of it with the reference
    int interleaved_with = 0;                       ///< SpeedWatch::reference_number
    double interleaved_at_s = 0;                    ///< middle of that
    int retakes = 0;
    int disturbed = 0;  ///< retakes that other processes spoilt
  };

  /// Waits for what can be tried next, where that is made in the background, and has it tried first. False: there is no
  /// more time for it.
  [[nodiscard]] base::Result<bool> await_next();
  /// The same of one of these.
  [[nodiscard]] base::Result<bool> await_any(const std::vector<schema::Configuration>& choice, std::size_t untried);
  /// The time is up, with what was to be tried next and with so many proposals in all untried.
  void cut_short(std::vector<schema::Configuration> next, std::size_t untried);
  [[nodiscard]] base::Result<bool> measure(const std::vector<search::Proposal>& batch);
  /// Their configurations, and those that are likely to follow.
  [[nodiscard]] std::vector<schema::Configuration> with_foreseen(const std::vector<search::Proposal>& batch) const;
  /// The run's trials that are not in seen_ yet. `proposals`: theirs.
  void take_in(const std::vector<search::Proposal>& proposals);
  [[nodiscard]] bool has_time_to_read(const std::vector<search::Proposal>& before) const;
  [[nodiscard]] base::Result<void> look_at_the_machine(std::size_t first);
  /// What the searcher and the ranking learn of a trial.
  [[nodiscard]] search::Observation corrected(std::size_t at) const;
  /// Whether a trial was interleaved with what is the reference now.
  [[nodiscard]] bool is_interleaved(std::size_t at) const;
  /// Whether a trial keeps fewer CPUs busy than the reference, so that it may not feel what slows that.
  [[nodiscard]] bool is_narrower(std::size_t at) const;
  /// In log, how much of the machine's slow-down a trial may have been spared when it was measured: all of it in a slow
  /// stretch, which may hit some configurations more than others, or where it is narrower; else 0.
  [[nodiscard]] double unshared(std::size_t at) const;
  /// Tells the searcher and the record what is known now of every trial.
  void revise();
  /// `waits`: for slow stretches to end.
  [[nodiscard]] base::Result<void> take_doubtful_again(bool waits);
  /// The trial that may be the fastest of those that the machine's changes left in doubt and that matter.
  [[nodiscard]] std::optional<std::size_t> most_doubtful(bool given_up_only) const;
  [[nodiscard]] base::Result<void> take_again(std::size_t at);
  [[nodiscard]] base::Result<bool> interleave(std::size_t at);
  /// A trial was measured again just now.
  void count_take(std::size_t at);
  /// Has an answer proven before a search that goes on for long is over.
  [[nodiscard]] base::Result<void> answer_early();
  [[nodiscard]] bool has_current() const;
  [[nodiscard]] bool is_up(const std::vector<search::Proposal>& next) const;
  [[nodiscard]] const std::string& device_of(std::size_t at) const;

  TrialRunner& runner_;
  SpeedWatch& speed_;
  search::Searcher& searcher_;
  EarlierRuns earlier_;
  std::function<void()> on_current_;
  std::function<base::Result<bool>()> on_long_;
  RunningForecast forecast_;
  SessionLimit session_limit_;
  std::vector<Seen> seen_;   ///< by the run's trials
  double retake_error_ = 0;  ///< of the latest comparison with the reference: no less doubt asks for another
  bool cut_short_ = false;
  bool looked_ = false;    ///< at the current configuration
  bool answered_ = false;  ///< early
};

}  // namespace ridgeline::campaign
