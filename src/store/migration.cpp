// SPDX-License-Identifier: Apache-2.0
#include "store/migration.hpp"

#include <unistd.h>

#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "store/message_migration.hpp"
#include "store/one_table_migration.hpp"

namespace ridgeline::store {
namespace {

// Samples and whole records stand in tables of their own: a scan of the narrow tables then never touches their pages.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE trials (
  key          TEXT NOT NULL PRIMARY KEY,  -- TrialSpec::key
  status       TEXT NOT NULL,
  measured_utc TEXT NOT NULL,
  duration_s   REAL NOT NULL,
  spec         TEXT NOT NULL,              -- JSON
  outcome      TEXT NOT NULL               -- JSON without the samples
) STRICT;
CREATE TABLE trial_samples (
  key     TEXT NOT NULL PRIMARY KEY REFERENCES trials (key) ON DELETE CASCADE,
  samples BLOB NOT NULL                    -- sample_codec.hpp
) STRICT;
CREATE TABLE pairs (
  key          TEXT NOT NULL PRIMARY KEY,  -- PairedSpec::key
  status       TEXT NOT NULL,
  measured_utc TEXT NOT NULL,
  duration_s   REAL NOT NULL,
  spec         TEXT NOT NULL,
  outcome      TEXT NOT NULL
) STRICT;
CREATE TABLE pair_samples (
  key     TEXT NOT NULL REFERENCES pairs (key) ON DELETE CASCADE,
  block   INTEGER NOT NULL,                -- index into the outcome's blocks
  samples BLOB NOT NULL,
  PRIMARY KEY (key, block)
) STRICT;
CREATE TABLE runs (
  id           TEXT NOT NULL PRIMARY KEY,
  started_utc  TEXT NOT NULL,
  finished_utc TEXT NOT NULL,              -- '' while running
  command      TEXT NOT NULL,
  model        TEXT NOT NULL,
  provider     TEXT NOT NULL,
  device       TEXT NOT NULL,
  objective    TEXT NOT NULL,
  trials       INTEGER NOT NULL,
  decision     TEXT NOT NULL,              -- '' without a verdict
  gain_ratio   REAL,
  duration_s   REAL NOT NULL
) STRICT;
CREATE INDEX runs_by_time ON runs (started_utc, id);
CREATE TABLE run_records (
  id     TEXT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  record TEXT NOT NULL                     -- schema::TuneRun as JSON
) STRICT;
)sql";

// `ridgeline bench`.
constexpr const char* kVersion2 = R"sql(
CREATE TABLE training_trials (
  key          TEXT NOT NULL PRIMARY KEY,  -- TrainingTrialSpec::key
  status       TEXT NOT NULL,
  measured_utc TEXT NOT NULL,
  duration_s   REAL NOT NULL,
  spec         TEXT NOT NULL,              -- JSON
  outcome      TEXT NOT NULL               -- JSON
) STRICT;
CREATE TABLE bench_runs (
  id            TEXT NOT NULL PRIMARY KEY,
  started_utc   TEXT NOT NULL,
  finished_utc  TEXT NOT NULL,             -- '' while running
  job           TEXT NOT NULL,
  device        TEXT NOT NULL,
  trials        INTEGER NOT NULL,
  recommended   TEXT NOT NULL,             -- '' without an answer
  samples_per_s REAL,                      -- of the recommended settings
  duration_s    REAL NOT NULL
) STRICT;
CREATE INDEX bench_runs_by_time ON bench_runs (started_utc, id);
CREATE TABLE bench_run_records (
  id     TEXT NOT NULL PRIMARY KEY REFERENCES bench_runs (id) ON DELETE CASCADE,
  record TEXT NOT NULL                     -- schema::BenchRun as JSON
) STRICT;
)sql";

// `ridgeline sweep`.
constexpr const char* kVersion3 = R"sql(
CREATE TABLE sweep_trials (
  key          TEXT NOT NULL PRIMARY KEY,  -- SweepTrialSpec::key
  status       TEXT NOT NULL,
  measured_utc TEXT NOT NULL,
  duration_s   REAL NOT NULL,
  command      TEXT NOT NULL,              -- JSON: the template
  point        TEXT NOT NULL,              -- JSON: values by parameter
  outcome      TEXT NOT NULL               -- JSON
) STRICT;
CREATE TABLE sweep_runs (
  id           TEXT NOT NULL PRIMARY KEY,
  started_utc  TEXT NOT NULL,
  finished_utc TEXT NOT NULL,              -- '' while running
  command      TEXT NOT NULL,
  objective    TEXT NOT NULL,
  trials       INTEGER NOT NULL,
  recommended  TEXT NOT NULL,              -- '' without an answer
  value        REAL,                       -- the objective of the recommended combination
  duration_s   REAL NOT NULL
) STRICT;
CREATE INDEX sweep_runs_by_time ON sweep_runs (started_utc, id);
CREATE TABLE sweep_run_records (
  id     TEXT NOT NULL PRIMARY KEY REFERENCES sweep_runs (id) ON DELETE CASCADE,
  record TEXT NOT NULL                     -- schema::SweepRun as JSON
) STRICT;
)sql";

constexpr std::array kMigrations{Migration{1, kVersion1}, Migration{2, kVersion2}, Migration{3, kVersion3},
                                 Migration{4, nullptr, &move_to_one_table, kOneTableSchema},
                                 Migration{5, nullptr, &move_texts_to_messages, kOneTableSchema}};

/// Entering WAL needs the file alone, and SQLite does not call its busy handler for that; so ask until it works.
base::Result<void> enter_wal(const Connection& connection) {
  RL_TRY_ASSIGN(const auto mode, connection.query_text("PRAGMA journal_mode"));
  if (mode == "wal") return {};
  const auto& clock = base::system_clock();
  const auto deadline = clock.now() + connection.busy_timeout();
  while (true) {
    const auto entered = connection.query_text("PRAGMA journal_mode = WAL");
    if (entered && *entered == "wal") return {};
    if (entered)
      return base::fail(base::ErrorCode::io,
                        "database {} cannot use a write-ahead log (journal mode \"{}\"): network folders lack the "
                        "shared memory that it needs",
                        connection.path().string(), *entered)
          .hint("pass --db FILE on a local disk");
    if (entered.error().code != base::ErrorCode::unavailable || clock.now() >= deadline)
      return tl::unexpected<base::Error>(entered.error());
    clock.sleep_for(std::chrono::milliseconds(5));
  }
}

/// The version of a file that is ours and not newer than `newest`.
base::Result<std::int64_t> known_version(const Connection& connection, int newest) {
  // Tables before owner: when another process is creating the file right now, seen tables imply a seen owner.
  RL_TRY_ASSIGN(const auto tables, connection.query_integer("SELECT count(*) FROM sqlite_master"));
  RL_TRY_ASSIGN(const auto owner, connection.query_integer("PRAGMA application_id"));
  if (owner != kApplicationId && tables > 0)
    return base::fail(base::ErrorCode::corrupt, "{} is a database of another program, expected one of Ridgeline",
                      connection.path().string())
        .hint("pass --db FILE");
  RL_TRY_ASSIGN(const auto version, connection.query_integer("PRAGMA user_version"));
  if (version > newest)
    return base::fail(base::ErrorCode::unsupported,
                      "database {} was written by a newer version of Ridgeline (schema {}, this one knows up to {})",
                      connection.path().string(), version, newest)
        .hint("upgrade Ridgeline or pass --db FILE");
  return version;
}

/// What another process migrated meanwhile is no copy of the older file.
base::Result<void> copy_file(const Connection& connection, std::int64_t version) {
  const auto copy = copy_before_migration(connection.path(), version);
  std::error_code error;
  if (std::filesystem::exists(copy, error)) return {};
  auto half = copy;
  half += fmt::format(".{}", ::getpid());
  std::filesystem::remove(half, error);
  const auto written = [&]() -> base::Result<bool> {
    RL_TRY_ASSIGN(auto statement, connection.prepare("VACUUM INTO ?1"));
    const auto name = half.string();
    RL_TRY(statement.bind(1, name).run());
    RL_TRY_ASSIGN(const auto copied, Connection::open(half, connection.busy_timeout()));
    RL_TRY_ASSIGN(const auto of, copied->query_integer("PRAGMA user_version"));
    return of == version;
  }();
  if (written && *written) std::filesystem::rename(half, copy, error);
  if (!written || !*written || error) {
    std::error_code ignored;
    std::filesystem::remove(half, ignored);
  }
  if (written && !error) return {};
  return base::fail(base::ErrorCode::io,
                    "database {} is of an older version (schema {}) and is brought up to date only with a copy beside "
                    "it, which cannot be written: {}",
                    connection.path().string(), version, written ? error.message() : written.error().message)
      .hint("free some space, or make {} writable",
            copy.parent_path().empty() ? "this folder" : copy.parent_path().string());
}

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

std::filesystem::path copy_before_migration(const std::filesystem::path& file, std::int64_t version) {
  auto copy = file;
  copy += fmt::format(".schema{}", version);
  return copy;
}

base::Result<void> migrate(const Connection& connection, const TextReader& reader, std::span<const Migration> steps) {
  const int newest = steps.back().to;
  // Before anything is written: a file that is not ours stays as it is.
  RL_TRY_ASSIGN(auto version, known_version(connection, newest));
  RL_TRY(enter_wal(connection));
  if (version > 0 && version < newest) RL_TRY(copy_file(connection, version));
  for (const auto& step : steps) {
    if (step.to <= version) continue;
    RL_TRY_ASSIGN(auto transaction, connection.begin());
    // Again under the lock: another process may have done it meanwhile.
    RL_TRY_ASSIGN(version, known_version(connection, newest));
    if (step.to <= version) continue;
    const bool is_fresh = version == 0 && steps.back().fresh != nullptr;
    const auto& made = is_fresh ? steps.back() : step;
    if (is_fresh || made.sql != nullptr) RL_TRY(connection.execute(is_fresh ? made.fresh : made.sql));
    if (!is_fresh && made.move != nullptr) RL_TRY(made.move(connection, reader));
    RL_TRY(connection.execute(
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, made.to)));
    RL_TRY(transaction.commit());
    version = made.to;
  }
  return {};
}

base::Result<void> check_migrated(const Connection& connection, std::span<const Migration> steps) {
  const int newest = steps.back().to;
  RL_TRY_ASSIGN(const auto version, known_version(connection, newest));
  if (version == newest) return {};
  const auto file = connection.path().string();
  return base::fail(
             base::ErrorCode::unsupported,
             "database {} was written by an older version of Ridgeline (schema {}, this one reads {}) and is read-only",
             file, version, newest)
      .hint("run `ridgeline history --db {}` once as someone who may write it and its folder", file);
}

}  // namespace ridgeline::store
