// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "campaign/tune/tune_campaign.hpp"

namespace ridgeline::campaign {

/// An error of being out of time names what was under way.
[[nodiscard]] base::Error out_of_time_in(base::Error error, std::string_view what);

/// The outputs that those of a run's trials are checked against, one file a batch size, and how far they may drift.
class AccuracyReference {
 public:
  /// All must outlive it.
  AccuracyReference(execute::Executor& executor, store::Store& store, const base::Clock& clock,
                    CampaignObserver& observer, const TuneRequest& request, TuneResult& result)
      : executor_(executor), store_(store), clock_(clock), observer_(observer), request_(request), result_(result) {}

  /// Sets the run's accuracy tolerance from the reference's run-to-run noise. `current`: the trial of the current
  /// configuration. Errors: the model cannot run, or its outputs are not finite.
  [[nodiscard]] base::Result<void> prepare(const schema::TrialSpec& current, const execute::TimeLeft& time_left);
  /// The file for trials like that, made where it does not exist yet. Errors: as above.
  [[nodiscard]] base::Result<std::filesystem::path> outputs(const schema::TrialSpec& like,
                                                            const execute::TimeLeft& time_left);
  /// Widens the tolerance to what the runtime's own defaults need on this GPU, unless the user has set it.
  void accept_default_numerics(const schema::AccuracyDrift& drift);

 private:
  [[nodiscard]] schema::TrialSpec spec_for(const schema::TrialSpec& like) const;

  execute::Executor& executor_;
  store::Store& store_;
  const base::Clock& clock_;
  CampaignObserver& observer_;
  const TuneRequest& request_;
  TuneResult& result_;
  std::map<std::string, schema::AccuracyDrift> noise_;  ///< run-to-run, by key, of references known to exist
};

}  // namespace ridgeline::campaign
