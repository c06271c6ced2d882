// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "config/config_patch.hpp"
#include "report/report_model.hpp"
#include "schema/run.hpp"
#include "schema/sweep.hpp"
#include "schema/tune_run.hpp"
#include "store/store.hpp"

namespace ridgeline::run {

/// The user's file that a recommendation is to be written to, and where its values stand in it.
struct Target {
  std::string file;
  config::PatchOptions options;              ///< of kinds that write settings of the catalogue
  bool provenance = false;                   ///< comment changed values with the run
  std::map<std::string, std::string> paths;  ///< "batch" -> "data.batch_size", of kinds whose names are the user's
  int trial = 0;                             ///< whose settings are written; 0: of the one that the run recommends
};

/// What a recommendation changes in a file.
struct Change {
  config::PatchResult patch;
  std::function<base::Result<config::AppliedPatch>(std::string_view utc)> write;
  bool keeps = false;               ///< the answer is to keep what there is: nothing is changed
  std::vector<std::string> before;  ///< lines for people, above the difference
  std::vector<std::string> after;   ///< ... and below it
};

/// A trial of a run; 0: the one that it recommends.
struct TrialName {
  schema::Run run;
  int trial = 0;
};

/// One side of a comparison.
struct Compared {
  std::string name;          ///< "RUN/TRIAL", or "RUN" of what several trials tell together
  std::string key;           ///< of what was measured: the same key is the same record
  std::string figure;        ///< "6.91 ms", "4,120 samples/s"
  std::string measured_utc;  ///< "" where several trials tell it
  std::vector<std::pair<std::string, std::string>> facts;  ///< what may explain a difference: name and value
};

struct RunComparison {
  Compared a;
  Compared b;
  schema::Comparison comparison;  ///< B over A, above 1: B is better
  double min_effect = 0;          ///< that counted: a share, or in the unit of the difference
  /// In place of the comparison's ratio; its verdict holds.
  std::optional<schema::SweepDifference> difference;
  std::string not_comparable;      ///< why neither says anything; "" where they do
  double confidence = 0.95;        ///< of the comparison's interval
  std::vector<std::string> lines;  ///< for people, below it
  base::Json details;              ///< the same for machines; null where the kind has none
};

/// What can be done with the runs of a kind once they are stored: everything follows from the records. A new kind adds
/// one of these to the registry, and `history`, `show`, `report`, `compare`, `rerun` and
/// `apply` know it.
class Kind {
 public:
  virtual ~Kind() = default;
  /// schema::Run::kind, and the subcommand that makes such runs.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual base::Result<report::ReportModel> report(const schema::Run& run, store::Store& store) const = 0;
  /// The same with what only a page shows, which may take longer to make.
  [[nodiscard]] virtual base::Result<report::ReportModel> page(const schema::Run& run, store::Store& store) const {
    return report(run, store);
  }
  /// For machines.
  [[nodiscard]] virtual base::Result<base::Json> json(const schema::Run& run, store::Store& store) const = 0;
  /// B against A, two runs of this kind, by their separate measurements. `min_effect` unset: the kind's own. Errors:
  /// invalid_argument (what they measured cannot be compared; a trial without a measurement), not_found (no such
  /// trial).
  [[nodiscard]] virtual base::Result<RunComparison> compare(const TrialName& a, const TrialName& b, store::Store& store,
                                                            std::optional<double> min_effect) const = 0;
  /// Measures a trial again, as it was measured then; A is then, B is now. Nothing is kept. Errors: those of compare,
  /// and unavailable (it does not run to the end now).
  [[nodiscard]] virtual base::Result<RunComparison> rerun(const TrialName& name, store::Store& store) const = 0;
  /// Whether the file holds settings of this kind, so that its recommendation belongs there.
  [[nodiscard]] virtual bool knows(const schema::Run& run, std::string_view text, const Target& target) const = 0;
  /// Errors: invalid_argument (no recommendation; a trial without a result; a file that cannot take it).
  [[nodiscard]] virtual base::Result<Change> change(const schema::Run& run, std::string_view text, const Target& target,
                                                    store::Store& store) const = 0;
};

}  // namespace ridgeline::run
