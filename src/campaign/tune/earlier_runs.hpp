// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schema/tune_run.hpp"
#include "store/store.hpp"

namespace ridgeline::campaign {

/// What earlier runs of the same model on the same device say of trials that answer from the results file. They are
/// read when they are first asked for, the newest first.
class EarlierRuns {
 public:
  /// Both must outlive the object.
  EarlierRuns(store::Store& store, const schema::TuneRun& run) : store_(store), run_(run) {}

  /// The cost of the trial with that key as the newest run that names it corrected it by the machine's speed; nullopt
  /// where it did not, or none of the newest names it.
  [[nodiscard]] std::optional<schema::CorrectedCost> corrected(const std::string& key);

 private:
  [[nodiscard]] bool read_next();

  store::Store& store_;
  const schema::TuneRun& run_;
  std::optional<std::vector<std::string>> ids_;  ///< of runs that were not read yet, the newest last
  std::map<std::string, std::optional<schema::CorrectedCost>> known_;  ///< by TunedTrial::key
};

}  // namespace ridgeline::campaign
