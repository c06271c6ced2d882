// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "schema/device_learning.hpp"
#include "schema/run.hpp"
#include "schema/trial_outcome.hpp"
#include "schema/trial_spec.hpp"
#include "store/access.hpp"
#include "store/text_reader.hpp"
#include "store/trial_record.hpp"

namespace ridgeline::store {

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
  TextReader read_text{};  ///< for a file of before schema 5
};

/// Results on disk: one SQLite file in WAL mode, with one table of runs and one of trials for all kinds. Trials are
/// content-addressed (TrialSpec::key and its like) and shared by runs. Every save is one transaction, durable against
/// kill -9 of every process (the pages are with the kernel); it is not synced to the disk one by one
/// (synchronous=NORMAL: fsync at checkpoints), so a power cut may cost the last saves but leaves the file whole. That
/// keeps a save far below a millisecond; a trial lost so is measured again.
/// Two processes may use one file; a lock held longer than the busy timeout is ErrorCode::unavailable naming the file.
/// One thread at a time may use an object; not across fork.
/// Errors: corrupt (not a database, another program's, damaged), unsupported (written by a newer version: says which),
/// io (disk full, read-only folder, a directory), unavailable (locked).
class Store {
 public:
  /// Creates the file and its folder when something is saved first; migrates older schemas, a copy beside the file
  /// first (migration.hpp).
  [[nodiscard]] static base::Result<Store> open(const std::filesystem::path& path, const StoreOptions& options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// `as_of`: a run's finished_utc; the trial as it was measured then, nullopt if it was not yet. "": as it is now.
  [[nodiscard]] base::Result<std::optional<TrialRecord>> find_record(const std::string& key,
                                                                     std::string_view as_of = {});
  /// A later save of the same key replaces the earlier one, which is kept for the runs that finished with it.
  [[nodiscard]] base::Result<void> save_record(const TrialRecord& record);

  [[nodiscard]] base::Result<std::optional<StoredTrial>> find_trial(const std::string& key,
                                                                    std::string_view as_of = {});
  [[nodiscard]] base::Result<void> save_trial(const schema::TrialSpec& spec, const schema::TrialOutcome& outcome);
  [[nodiscard]] base::Result<std::optional<StoredPair>> find_pair(const std::string& key, std::string_view as_of = {});
  [[nodiscard]] base::Result<void> save_pair(const schema::PairedSpec& spec, const schema::PairedOutcome& outcome);
  /// The outcome of a trial whose kind has no samples apart.
  template <typename Outcome>
  [[nodiscard]] base::Result<std::optional<Outcome>> find_outcome(const std::string& key) {
    RL_TRY_ASSIGN(const auto record, find_record(key));
    if (!record) return std::optional<Outcome>();
    RL_TRY_ASSIGN(auto outcome, base::json_as<Outcome>(record->outcome, record->kind + " " + key));
    return std::optional<Outcome>(std::move(outcome));
  }
  template <typename Outcome>
  [[nodiscard]] base::Result<void> save_outcome(std::string_view kind, const std::string& key, base::Json spec,
                                                const Outcome& outcome) {
    return save_record({key,
                        std::string(kind),
                        std::string(base::enum_name(outcome.status)),
                        outcome.measured_utc,
                        outcome.duration_s,
                        std::move(spec),
                        outcome,
                        {}});
  }

  /// Inserts or replaces the run and its trial list.
  [[nodiscard]] base::Result<void> save_run(const schema::Run& run);
  /// `reference` is an id, a unique beginning of one, "latest" or "latest:KIND"; with `kind`, "latest" is the newest of
  /// that kind, and a run of another kind is an error. Errors: not_found (with the nearest id), invalid_argument
  /// (ambiguous: lists; another kind: names the command).
  [[nodiscard]] base::Result<schema::Run> load_run(const std::string& reference, std::string_view kind = {});
  /// The same in the type of its kind.
  template <typename T>
  [[nodiscard]] base::Result<T> load(const std::string& reference) {
    RL_TRY_ASSIGN(const auto run, load_run(reference, T::kLayout.kind));
    return schema::run_as<T>(run);
  }
  /// Newest first, of one kind or of all; reads no records, so 10,000 runs list in milliseconds.
  [[nodiscard]] base::Result<std::vector<schema::RunSummary>> list_runs(std::size_t limit, std::string_view kind = {});

  /// What the runs of all models but `subject` taught of a device: the same question asked again finds what it found
  /// the first time, and is answered by what it measured then.
  [[nodiscard]] base::Result<schema::DeviceLearning> learned(const std::string& device, const std::string& provider,
                                                             const std::string& subject);
  /// Adds what another run of the model taught.
  [[nodiscard]] base::Result<void> learn(const std::string& device, const std::string& provider,
                                         const std::string& subject, const schema::DeviceLearning& of_run);

  [[nodiscard]] const std::filesystem::path& path() const noexcept;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ridgeline::store
