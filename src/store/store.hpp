// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/trial_outcome.hpp"
#include "schema/trial_spec.hpp"
#include "schema/tune_run.hpp"
#include "store/access.hpp"

namespace ridgeline::store {

/// What lists call a run's model: its file name, or "synthetic:OPTIONS".
[[nodiscard]] std::string model_name(const schema::TuneRun& run);

/// One line of `ridgeline history`.
struct RunSummary {
  std::string id;
  std::string started_utc;
  std::string command;  ///< "tune"
  std::string model;    ///< file name
  std::string provider;
  std::string device;
  std::string objective;
  int trials = 0;
  std::string decision;  ///< schema::Decision name, "" while running or interrupted
  std::optional<double> gain_ratio;
  double duration_s = 0;
  bool finished = false;
};

struct StoredTrial {
  schema::TrialSpec spec;
  schema::TrialOutcome outcome;
};

struct StoredPair {
  schema::PairedSpec spec;
  schema::PairedOutcome outcome;
};

struct StoreOptions {
  std::chrono::milliseconds busy_timeout{10000};  ///< how long to wait for another process's lock
  Access access = Access::write;
};

/// Results on disk: one SQLite file in WAL mode. Trials and pairs are content-addressed (TrialSpec::key) and shared by
/// runs. Every save is one transaction, durable against kill -9 of every process (the pages are with the kernel); it is
/// not synced to the disk one by one (synchronous=NORMAL: fsync at checkpoints), so a power cut may cost the last saves
/// but leaves the file whole. That keeps a save far below a millisecond; a trial lost so is measured again.
/// Two processes may use one file; a lock held longer than the busy timeout is ErrorCode::unavailable naming the file.
/// One thread at a time may use an object; not across fork.
/// Errors: corrupt (not a database, another program's, damaged), unsupported (written by a newer version: says which),
/// io (disk full, read-only folder, a directory), unavailable (locked).
class Store {
 public:
  /// Creates the file and its folder when missing; migrates older schemas.
  [[nodiscard]] static base::Result<Store> open(const std::filesystem::path& path, const StoreOptions& options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  [[nodiscard]] base::Result<std::optional<StoredTrial>> find_trial(const std::string& key);
  /// A later save of the same key replaces the earlier one.
  [[nodiscard]] base::Result<void> save_trial(const schema::TrialSpec& spec, const schema::TrialOutcome& outcome);
  [[nodiscard]] base::Result<std::optional<StoredPair>> find_pair(const std::string& key);
  [[nodiscard]] base::Result<void> save_pair(const schema::PairedSpec& spec, const schema::PairedOutcome& outcome);

  /// Inserts or replaces the run and its trial list.
  [[nodiscard]] base::Result<void> save_run(const schema::TuneRun& run);
  /// `id` may be a unique prefix, or "latest". Errors: not_found (with the nearest id), invalid_argument (ambiguous:
  /// lists).
  [[nodiscard]] base::Result<schema::TuneRun> load_run(const std::string& id);
  /// Newest first; reads no samples, so 10,000 runs list in milliseconds.
  [[nodiscard]] base::Result<std::vector<RunSummary>> list_runs(std::size_t limit);
  [[nodiscard]] base::Result<std::size_t> count_trials();

  [[nodiscard]] const std::filesystem::path& path() const noexcept;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ridgeline::store
