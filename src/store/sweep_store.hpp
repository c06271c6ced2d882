// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/sweep.hpp"
#include "store/store.hpp"

namespace ridgeline::store {

/// One line of a list of sweeps.
struct SweepRunSummary {
  std::string id;
  std::string started_utc;
  std::string command;    ///< the template, for people
  std::string objective;  ///< "max:samples_per_s"
  int trials = 0;
  std::string recommended;  ///< "batch=128 workers=4", "" without an answer
  std::optional<double> value;
  double duration_s = 0;
  bool finished = false;
};

/// Trials and runs of `ridgeline sweep` in the results file that Store uses too; what Store says about saving, locks
/// and errors holds here.
class SweepStore {
 public:
  [[nodiscard]] static base::Result<SweepStore> open(const std::filesystem::path& path,
                                                     const StoreOptions& options = {});
  SweepStore(SweepStore&&) noexcept;
  SweepStore& operator=(SweepStore&&) noexcept;
  ~SweepStore();

  [[nodiscard]] base::Result<std::optional<schema::SweepOutcome>> find_trial(const std::string& key);
  /// A later save of the same key replaces the earlier one.
  [[nodiscard]] base::Result<void> save_trial(const schema::SweepTrialSpec& spec, const schema::SweepOutcome& outcome);

  /// Inserts or replaces the run.
  [[nodiscard]] base::Result<void> save_run(const schema::SweepRun& run);
  /// `id` may be a unique prefix, or "latest". Errors: not_found, invalid_argument (ambiguous).
  [[nodiscard]] base::Result<schema::SweepRun> load_run(const std::string& id);
  /// Newest first.
  [[nodiscard]] base::Result<std::vector<SweepRunSummary>> list_runs(std::size_t limit);

 private:
  struct Impl;
  explicit SweepStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ridgeline::store
