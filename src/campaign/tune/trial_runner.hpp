// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "campaign/tune/accuracy_reference.hpp"
#include "campaign/tune/trial_interference.hpp"
#include "campaign/tune/trials_ahead.hpp"

namespace ridgeline::campaign {

/// The outcome as the run sees it: an ok one whose outputs its limits do not accept becomes rejected_accuracy. The
/// store keeps the outcome unjudged, so that other limits need no new measurement. A run that does not compare outputs
/// (TuneRun::accuracy_tolerance is 0) accepts everything.
[[nodiscard]] schema::TrialOutcome judged(schema::TrialOutcome outcome, const schema::TuneRun& run);

/// Whether a comparison with more time would have had more pairs of sessions.
[[nodiscard]] bool lacks_time(const schema::PairedOutcome& outcome);

/// Answers single trials and pairs of one run from the store, or by the executor; records them at once.
class TrialRunner : private RunPart {
 public:
  // Errors of trial, trials and pair: out_of_time where the user's --max-time ended what was under way; it names that,
  // and nothing of it is kept.

  explicit TrialRunner(RunContext& context) : RunPart(context), reference_(context), ahead_(context) {}

  /// Sets the run's accuracy tolerance from the reference's run-to-run noise, with other lengths of inputs where the
  /// runtime refuses those that were guessed. Errors: the model cannot run, or its outputs are not finite.
  [[nodiscard]] base::Result<void> prepare_reference();
  /// The same of a run that has no reference, once its first trial has been made. Errors: the runtime refuses the
  /// inputs.
  [[nodiscard]] base::Result<void> check_inputs();

  /// Adds the trial to the run and returns its judged outcome. `remaining` is for display.
  [[nodiscard]] base::Result<schema::TrialOutcome> trial(const schema::Configuration& configuration,
                                                         schema::TrialStage stage, const schema::Message& reason,
                                                         std::optional<double> stop_above, std::size_t remaining);

  /// Adds the trials to the run, in order, and returns their judged outcomes. What the store does not know is measured
  /// on as many GPUs as do not disturb each other, which is found out when it first matters.
  [[nodiscard]] base::Result<std::vector<schema::TrialOutcome>> trials(const std::vector<search::Proposal>& proposals,
                                                                       std::size_t remaining);
  /// Measures a trial of this run again, whatever the store knows; a measurement that does not go well leaves the trial
  /// as it was. True where it went well.
  [[nodiscard]] base::Result<bool> retake(std::size_t at, std::optional<double> stop_above);
  /// By what the limits of trials on a device are to be multiplied, as they are meant for a quiet machine.
  void set_allowance(std::function<double(const std::string& device)> allowance) { allowance_ = std::move(allowance); }
  /// Times the configuration shortly on each slot, by device. For objective p99 by its median. Without those that did
  /// not go well.
  [[nodiscard]] base::Result<std::vector<std::pair<std::string, schema::SpeedReading>>> read_speed(
      const schema::Configuration& configuration);
  /// The same of a measurement that was made.
  [[nodiscard]] schema::SpeedReading reading_of(const schema::TunedTrial& trial,
                                                const schema::TrialOutcome& outcome) const;
  /// Measures the configuration, called `what`, alone (TrialSpec::isolated) for `least_s` at least, and returns its
  /// key; not one of the run's trials.
  [[nodiscard]] base::Result<std::string> measure_isolated(const schema::Configuration& configuration, double least_s,
                                                           std::string_view what);
  [[nodiscard]] TrialsAhead& ahead() noexcept { return ahead_; }
  /// What prepare_reference() and the first trials run is made in the background from now on.
  void want_from_start(std::vector<schema::Configuration> foreseen);
  /// How many trials are worth giving to trials() at once.
  [[nodiscard]] std::size_t device_slots() const;

  /// Adds the pair to the run. `again`: whatever the store knows of it.
  [[nodiscard]] base::Result<schema::TunedPair> pair(schema::PairPurpose purpose, const schema::Configuration& a,
                                                     const schema::Configuration& b, const std::string& setting,
                                                     const schema::PairedPlan& plan, bool again = false);

  /// Takes the latest comparison out of the run again.
  void forget_pair() { result_.run.pairs.pop_back(); }
  /// And all that the search did not make itself.
  void forget_verdicts() {
    std::erase_if(result_.run.pairs, [](const auto& pair) {
      return pair.purpose != schema::PairPurpose::retake && pair.purpose != schema::PairPurpose::candidate;
    });
  }
  /// Of the latest comparison, in this run only: the store keeps what was measured.
  void flag_pair(schema::QualityFlag flag) { result_.run.pairs.back().flags.push_back(std::move(flag)); }
  [[nodiscard]] schema::TrialSpec spec_for(const schema::Configuration& configuration) const;

 private:
  /// A trial on its way; without an outcome it still has to be measured.
  struct PendingTrial {
    schema::TunedTrial entry;
    schema::TrialSpec spec;
    execute::TrialOptions options;
    std::optional<schema::TrialOutcome> outcome;
    std::optional<double> limit;  ///< Proposal::stop_above
    std::size_t remaining = 0;    ///< trials after it
  };

  [[nodiscard]] base::Result<PendingTrial> begin(const search::Proposal& proposal, std::size_t place,
                                                 std::size_t remaining);
  /// What the store knows of it by the GPUs of these slots, the first of them that answers.
  [[nodiscard]] base::Result<std::optional<store::StoredTrial>> find_stored(const PendingTrial& trial,
                                                                            const std::vector<std::size_t>& slots);
  /// Gives it that outcome, if there is one.
  [[nodiscard]] base::Result<void> take_stored(PendingTrial& trial, const std::vector<std::size_t>& slots);
  /// Finds out which slots may measure side by side when the trials are the first for which that matters, and gives
  /// them what these slots measured before.
  [[nodiscard]] base::Result<void> check_interference_once(std::vector<PendingTrial>& trials);
  [[nodiscard]] base::Result<void> measure(std::vector<PendingTrial>& trials);
  [[nodiscard]] base::Result<schema::TrialOutcome> finish(PendingTrial trial);
  /// TrialSpec::device of each slot.
  [[nodiscard]] std::vector<std::string> devices() const;
  /// Slots whose figures can stand beside those of slot 0, which is the first; that one alone until it is known.
  [[nodiscard]] std::vector<std::size_t> admitted() const;
  /// Whether it has all that the run judges outputs by.
  [[nodiscard]] bool is_compared(const schema::TrialOutcome& stored) const;
  [[nodiscard]] bool answers(const store::StoredTrial& trial, std::optional<double> stop_above);
  /// Whether a trial without a measurement need not be made again: it would end the same way, or is of this run, or of
  /// the interrupted one that this run goes on with.
  [[nodiscard]] bool failure_stands(const store::StoredTrial& stored);

  AccuracyReference reference_;
  TrialsAhead ahead_;
  std::optional<std::set<std::string>> of_interrupted_;  ///< keys, see trials_of_interrupted; unset: not looked yet
  std::optional<Interference> interference_;             ///< unset: not looked at yet
  std::function<double(const std::string&)> allowance_ = [](const std::string&) { return 1.0; };
};

}  // namespace ridgeline::campaign
