// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "campaign/tune/pair_schedule.hpp"

namespace ridgeline::campaign {

/// Takes the winner's settings out one by one, and leaves out of the verdict those without which the winner is shown to
/// be as good as the fastest configuration, all together.
class WinnerSimplifier : private RunPart {
 public:
  /// All must outlive the simplifier; `fastest` is what a simpler configuration is measured against.
  WinnerSimplifier(RunContext& context, TrialRunner& runner, PairSchedule& pairs, schema::Configuration fastest)
      : RunPart(context), runner_(runner), pairs_(pairs), fastest_(std::move(fastest)) {}

  /// Of the run's verdict, a change: its configuration, trial and gain, and which of its settings stay unproven.
  /// Errors: those of TrialRunner, but for a time that is over, which leaves the verdict as it is.
  [[nodiscard]] base::Result<void> simplify();

 private:
  /// What leave-one-out says of the winner's settings.
  struct Doubts {
    std::vector<std::string> needless;   ///< without which the winner is shown to be as good, the surest first
    std::vector<std::string> undecided;  ///< too noisy to tell
    std::optional<std::string> harmful;  ///< the one of them without which the winner was faster (by most)
  };
  [[nodiscard]] base::Result<Doubts> leave_one_out();
  /// Takes `keys` out of the verdict if what is left is as good as the fastest and beats the current configuration.
  /// False when the verdict stays.
  [[nodiscard]] base::Result<bool> leave_out(const std::vector<std::string>& keys);
  /// Whether `simpler` is shown to be as good as the fastest, by a comparison made before or now.
  [[nodiscard]] base::Result<bool> is_as_good(const schema::Configuration& simpler,
                                              const std::vector<std::string>& keys);
  [[nodiscard]] bool has_time_without(const std::vector<std::string>& keys, const schema::Configuration& simpler,
                                      double before_s);
  /// With these back at their current values.
  [[nodiscard]] schema::Configuration without_keys(const schema::Configuration& configuration,
                                                   const std::vector<std::string>& keys) const;
  /// Of what has no time to be taken out, one note.
  void note_what_stays();

  TrialRunner& runner_;
  PairSchedule& pairs_;
  schema::Configuration fastest_;
  std::vector<std::string> no_time_without_;  ///< settings that there was no time to take out
};

}  // namespace ridgeline::campaign
