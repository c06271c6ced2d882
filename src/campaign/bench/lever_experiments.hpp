// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "campaign/bench/bench_trials.hpp"

namespace ridgeline::campaign {

/// Tries each of BenchRequest::switches under the recommended settings: trials with them and without, in
/// counterbalanced order. What does not lead after two rounds is left out of two more, after which all trials with a
/// switch have to be faster than all without: of equals one in seventy would be. They are no trials of the search,
/// whose settings they do not have; what helps is a finding, the rest are notes.
class SwitchExperiments {
 public:
  SwitchExperiments(BenchTrials& trials, const BenchRequest& request, schema::BenchRun& run);
  [[nodiscard]] base::Result<void> run(const schema::TrainingSettings& base);

 private:
  struct Tried {
    std::string name;  ///< "": none, the settings alone
    std::vector<double> rates;
    schema::Message problem;
    bool trails = false;  ///< after the first rounds
  };
  /// Whether each trial with it was faster than each without, by enough on average.
  [[nodiscard]] static bool leads(const Tried& tried, const Tried& without);
  [[nodiscard]] base::Result<void> measure(Tried& tried, const schema::TrainingSettings& base, int round);
  void report(const std::vector<Tried>& all, const schema::TrainingSettings& base);

  BenchTrials& trials_;
  const BenchRequest& request_;
  schema::BenchRun& run_;
};

/// What `--option NAME=` has for it.
[[nodiscard]] std::string switch_value(const std::string& name);

}  // namespace ridgeline::campaign
