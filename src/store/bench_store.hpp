// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/training_run.hpp"
#include "store/store.hpp"

namespace ridgeline::store {

/// One line of a list of training benchmarks.
struct BenchRunSummary {
  std::string id;
  std::string started_utc;
  std::string job;  ///< "python train:make", "native resnet18"
  std::string device;
  int trials = 0;
  std::string recommended;  ///< "batch 256, 4 workers, bf16, pinned", "" without an answer
  std::optional<double> samples_per_s;
  double duration_s = 0;
  bool finished = false;
};

/// Training trials and runs of `ridgeline bench` in the results file that Store uses too; what Store says about saving,
/// locks and errors holds here.
class BenchStore {
 public:
  [[nodiscard]] static base::Result<BenchStore> open(const std::filesystem::path& path,
                                                     const StoreOptions& options = {});
  BenchStore(BenchStore&&) noexcept;
  BenchStore& operator=(BenchStore&&) noexcept;
  ~BenchStore();

  [[nodiscard]] base::Result<std::optional<schema::TrainingOutcome>> find_trial(const std::string& key);
  /// A later save of the same key replaces the earlier one.
  [[nodiscard]] base::Result<void> save_trial(const schema::TrainingTrialSpec& spec,
                                              const schema::TrainingOutcome& outcome);

  /// Inserts or replaces the run.
  [[nodiscard]] base::Result<void> save_run(const schema::BenchRun& run);
  /// `id` may be a unique prefix, or "latest". Errors: not_found, invalid_argument (ambiguous).
  [[nodiscard]] base::Result<schema::BenchRun> load_run(const std::string& id);
  /// Newest first.
  [[nodiscard]] base::Result<std::vector<BenchRunSummary>> list_runs(std::size_t limit);

 private:
  struct Impl;
  explicit BenchStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ridgeline::store
