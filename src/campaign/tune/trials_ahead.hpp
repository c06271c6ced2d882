// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "campaign/tune/run_context.hpp"
#include "workload/ahead_request.hpp"

namespace ridgeline::campaign {

/// The trial of a configuration: what it runs, and on what.
[[nodiscard]] schema::TrialSpec spec_for(const schema::TuneRun& run, const schema::Configuration& configuration);

/// What is made and compiled in the background before its turn (execute::prepare_ahead): models that are made in
/// Python, on a GPU with memory for several. Elsewhere all of this does nothing.
class TrialsAhead : private RunPart {
 public:
  explicit TrialsAhead(RunContext& context) : RunPart(context) {}

  /// What the search is going to try, in this order. What was wanted before and is not named is given up. Where the
  /// search has ended, or has to soon, the comparison that follows it is prepared first.
  void want(std::vector<schema::Configuration> trials);
  /// The same of a search that begins, with the reference, if one is to be run, before all of it.
  void want_from_start(const std::optional<schema::TrialSpec>& reference, std::vector<schema::Configuration> trials);
  /// Waits until one of these is there, for as long as there is time to measure it. All that are there, in their order,
  /// and those that are not prepared at all: empty where the time is up.
  [[nodiscard]] base::Result<std::vector<schema::Configuration>> await_any(
      const std::vector<schema::Configuration>& configurations);
  /// A comparison that begins now: so many pairs of sessions.
  void want_pair(const schema::Configuration& a, const schema::Configuration& b, int pairs);
  /// Trials of these that begin now, once each, whatever the store knows of them.
  void want_again(const std::vector<schema::Configuration>& configurations);
  /// All but the program is given up.
  void end();
  /// The program that runs the code of that configuration, in addition to all that is wanted from now on.
  void want_program(const schema::Configuration& configuration);

 private:
  /// At a time; 0: none.
  [[nodiscard]] std::int64_t most() const;
  /// The arms of the comparison if the search ended now.
  [[nodiscard]] std::vector<schema::Configuration> finals() const;
  void ask(const std::vector<schema::Configuration>& before, const std::vector<schema::Configuration>& rest);
  /// The store has its trial.
  [[nodiscard]] bool is_known(const schema::TrialSpec& spec) const;
  /// Whether its trial need not wait.
  [[nodiscard]] bool is_there(const schema::Configuration& configuration) const;
  /// The fastest so far, up to the first that is not prepared here.
  [[nodiscard]] std::vector<schema::Configuration> fastest(std::size_t most) const;
  void look_again();

  std::vector<schema::Configuration> trials_;  ///< of the search
  std::vector<schema::TrialSpec> references_;  ///< that are made before anything else
  workload::AheadRequest latest_;
  workload::AheadStates states_;  ///< of that
  bool asked_ = false;
};

}  // namespace ridgeline::campaign
