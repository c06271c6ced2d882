// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "campaign/tune/run_context.hpp"

namespace ridgeline::campaign {

/// An error of being out of time names what was under way.
[[nodiscard]] base::Error out_of_time_in(base::Error error, std::string_view what);

/// The outputs that those of a run's trials are checked against, one file a batch size, and by how much they may
/// differ.
class AccuracyReference : private RunPart {
 public:
  explicit AccuracyReference(RunContext& context) : RunPart(context) {}

  /// Sets the run's accuracy tolerance from the reference's run-to-run noise, and its gate. `current`: the trial of the
  /// current configuration. Errors: the model cannot run, its outputs or the user's metric of them are not finite,
  /// or it keeps state.
  [[nodiscard]] base::Result<void> prepare(const schema::TrialSpec& current, const execute::TimeLeft& time_left);
  /// What prepare() is going to run; nullopt: nothing, or it is known.
  [[nodiscard]] std::optional<schema::TrialSpec> needed(const schema::TrialSpec& current) const;
  /// The file for trials like that, made where it does not exist yet. Errors: as above.
  [[nodiscard]] base::Result<std::filesystem::path> outputs(const schema::TrialSpec& like,
                                                            const execute::TimeLeft& time_left);
  /// Without an accuracy check nothing runs the model before the first trial: once that has failed, asks whether its
  /// inputs are to blame. Errors (refused_inputs, invalid_argument): they are.
  [[nodiscard]] base::Result<void> check_inputs(const schema::TrialSpec& failed, const execute::TimeLeft& time_left);
  /// Widens the limits to what the runtime's own defaults need on this GPU, unless the user has set them. Defaults
  /// whose single values are far off while their outputs are alike as a whole are judged by their cosine similarity
  /// from here on.
  void accept_default_numerics(const schema::OutputError& found);

 private:
  [[nodiscard]] schema::TrialSpec spec_for(const schema::TrialSpec& like) const;
  /// Of a PyTorch model, by what was found when the reference was made. Errors: a metric, or the lack of one, that
  /// does not suit the request.
  [[nodiscard]] base::Result<void> set_gate(const schema::OutputError& noise);
  /// Errors: outputs that change from call to call, and cannot be judged.
  [[nodiscard]] base::Result<void> take_variation(const schema::CallVariation& variation);
  void note_noise(const schema::OutputError& noise);

  /// graph_optimization_level of the reference; "": as it is asked for, which this runtime can do.
  std::string level_;
  std::map<std::string, schema::OutputError> noise_;  ///< run-to-run, by key, of references known to exist
};

}  // namespace ridgeline::campaign
