// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "store/sqlite.hpp"
#include "store/text_reader.hpp"

namespace ridgeline::store {

/// Schema 4: one table of runs and one of trials for all kinds.
inline constexpr const char* kOneTableSchema = R"sql(
CREATE TABLE trials (
  key          TEXT NOT NULL PRIMARY KEY,  -- TrialSpec::key and its like
  kind         TEXT NOT NULL,              -- trial_record.hpp
  status       TEXT NOT NULL,
  measured_utc TEXT NOT NULL,
  duration_s   REAL NOT NULL,
  spec         TEXT NOT NULL,              -- JSON
  outcome      TEXT NOT NULL               -- JSON without the samples
) STRICT;
CREATE TABLE samples (
  key     TEXT NOT NULL REFERENCES trials (key) ON DELETE CASCADE,
  part    INTEGER NOT NULL,                -- 0, or the index of a pair's block
  samples BLOB NOT NULL,                   -- sample_codec.hpp
  PRIMARY KEY (key, part)
) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
  id           TEXT NOT NULL PRIMARY KEY,
  kind         TEXT NOT NULL,              -- RunLayout::kind
  started_utc  TEXT NOT NULL,
  finished_utc TEXT NOT NULL,              -- '' while running
  subject      TEXT NOT NULL,              -- this and the next: schema::RunLine
  provider     TEXT NOT NULL,
  device       TEXT NOT NULL,
  objective    TEXT NOT NULL,
  trials       INTEGER NOT NULL,
  decision     TEXT NOT NULL,
  answer       TEXT NOT NULL,
  value        REAL,
  duration_s   REAL NOT NULL
) STRICT;
CREATE INDEX runs_by_time ON runs (started_utc);
CREATE TABLE run_records (
  id     TEXT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  record TEXT NOT NULL                     -- schema::Run as JSON
) STRICT;
CREATE TABLE learning (                    -- what the runs of one model taught of a device
  device   TEXT NOT NULL,
  provider TEXT NOT NULL,
  subject  TEXT NOT NULL,                  -- the model
  learned  TEXT NOT NULL,                  -- schema::DeviceLearning as JSON
  PRIMARY KEY (device, provider, subject)
) STRICT, WITHOUT ROWID;
)sql";

/// Moves what tune, bench and sweep kept in tables of their own there, records in the form of schema::Run.
[[nodiscard]] base::Result<void> move_to_one_table(const Connection& connection, const TextReader&);

}  // namespace ridgeline::store
