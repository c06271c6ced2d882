// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "campaign/tune/run_context.hpp"

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

  std::vector<schema::Configuration> trials_;  ///< of the search
  bool asked_ = false;
};

}  // namespace ridgeline::campaign
