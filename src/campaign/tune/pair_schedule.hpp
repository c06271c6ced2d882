// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "campaign/tune/speed_watch.hpp"
#include "campaign/tune/trial_runner.hpp"

namespace ridgeline::campaign {

/// Makes a run's comparisons, and knows which of them --max-time leaves room for: by what the trials took, and by how
/// long the comparisons before took.
class PairSchedule : private RunPart {
 public:
  /// All must outlive the schedule.
  PairSchedule(RunContext& context, TrialRunner& runner, SpeedWatch& speed)
      : RunPart(context), runner_(runner), speed_(speed) {}

  /// pair_plan of the run's plan.
  [[nodiscard]] schema::PairedPlan plan_for(const schema::Configuration& a, const schema::Configuration& b,
                                            double share) const;
  /// Of a comparison of two that are nearly as fast.
  [[nodiscard]] schema::PairedPlan head_to_head_plan(const schema::Configuration& a,
                                                     const schema::Configuration& b) const;
  /// Of the comparison with the current configuration without which there is no answer: cut to what is left.
  [[nodiscard]] schema::PairedPlan decisive_plan(const schema::Configuration& configuration) const;

  /// Seconds that comparing `b` with `a` is likely to take.
  [[nodiscard]] double expected_s(const schema::Configuration& a, const schema::Configuration& b,
                                  const schema::PairedPlan& plan, bool fresh) const;
  /// The same of the comparison with the current configuration that decides, uncut and cut to what is left.
  [[nodiscard]] double final_s(const schema::Configuration& configuration) const;
  [[nodiscard]] double decisive_s(const schema::Configuration& configuration) const;
  /// Whether there is time for a comparison that the answer does not need, after `before_s` of other work: for one as
  /// long as the longest so far.
  [[nodiscard]] bool has_time_for(const schema::Configuration& a, const schema::Configuration& b,
                                  const schema::PairedPlan& plan, bool fresh, double before_s = 0) const;

  /// Once a slow stretch of the machine is over, as far as there is time to wait for that; again where it was none of
  /// the quiet machine (analysis::is_of_quiet_machine). Errors: those of TrialRunner::pair.
  [[nodiscard]] base::Result<schema::TunedPair> measure(schema::PairPurpose purpose, const schema::Configuration& a,
                                                        const schema::Configuration& b, const std::string& setting,
                                                        const schema::PairedPlan& plan);
  /// What was compared so far does not count, and is compared again where it is asked for.
  void start_over();
  /// Whether it was --max-time that ended a comparison or a trial with this error; then the run has a note of it.
  [[nodiscard]] bool was_cut(const base::Error& error);

 private:
  [[nodiscard]] base::Result<void> wait_for_quiet(double pair_s);
  /// Seconds that waiting and comparing again may still take.
  [[nodiscard]] double extra_left_s() const { return speed_.least_extra_s() - extra_s_; }
  /// Flags a comparison that was just made where the machine was slow before or after it.
  [[nodiscard]] base::Result<void> note_slow_stretch(schema::TunedPair& pair);

  TrialRunner& runner_;
  SpeedWatch& speed_;
  double extra_s_ = 0;     ///< went into waiting, and into comparisons that were made again
  bool again_ = false;     ///< whatever the store knows
  bool was_slow_ = false;  ///< before the comparison under way
  double longest_s_ = 0;   ///< comparison so far, setting up included
  double pace_ = 1;        ///< by how much comparisons took longer than expected
};

}  // namespace ridgeline::campaign
