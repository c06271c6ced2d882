// SPDX-License-Identifier: Apache-2.0
#include "store/one_table_migration.hpp"

#include <string>
#include <string_view>

#include "store/old_request.hpp"
#include "store/record_json.hpp"
#include "store/run_table.hpp"

namespace ridgeline::store {
namespace {

constexpr const char* kSetAside = R"sql(
DROP INDEX runs_by_time;
ALTER TABLE trials RENAME TO trials_3;
ALTER TABLE runs RENAME TO runs_3;
ALTER TABLE run_records RENAME TO run_records_3;
)sql";

constexpr const char* kMoveTrials = R"sql(
INSERT INTO trials SELECT key, 'trial', status, measured_utc, duration_s, spec, outcome FROM trials_3;
INSERT INTO trials SELECT key, 'pair', status, measured_utc, duration_s, spec, outcome FROM pairs;
INSERT INTO trials SELECT key, 'training', status, measured_utc, duration_s, spec, outcome FROM training_trials;
INSERT INTO trials SELECT key, 'command', status, measured_utc, duration_s,
  json_object('command', json(command), 'point', json(point)), outcome FROM sweep_trials;
INSERT INTO samples SELECT key, 0, samples FROM trial_samples;
INSERT INTO samples SELECT key, block, samples FROM pair_samples;
)sql";

constexpr const char* kDropOld = R"sql(
DROP TABLE trial_samples; DROP TABLE trials_3;
DROP TABLE pair_samples; DROP TABLE pairs;
DROP TABLE training_trials; DROP TABLE sweep_trials;
DROP TABLE run_records_3; DROP TABLE runs_3;
DROP TABLE bench_run_records; DROP TABLE bench_runs;
DROP TABLE sweep_run_records; DROP TABLE sweep_runs;
)sql";

constexpr std::string_view kKeepRecord = "UPDATE run_records SET record = ?2 WHERE id = ?1";

/// A run whose record cannot be read: listed, and its record stays what it was, which loading it reports.
base::Result<void> move_damaged(const Connection& connection, std::string_view kind, const Statement& row) {
  schema::Run run;
  run.id = row.text(1);
  run.kind = kind;
  run.started_utc = row.text(2);
  RL_TRY(put_run(connection, run));
  const std::string record(row.text(0));
  RL_TRY_ASSIGN(auto keep, connection.prepare(kKeepRecord));
  return keep.bind(1, run.id).bind(2, record).run();
}

/// A reason began with the title that reports put above it.
void tidy(schema::TuneRun& run) {
  constexpr std::string_view kTitle = "keep what you have: ";
  if (!run.verdict || !run.verdict->reason.is(schema::kLegacy)) return;
  const auto text = run.verdict->reason.arguments().value("text", std::string());
  if (text.starts_with(kTitle)) run.verdict->reason = base::Json(text.substr(kTitle.size())).get<schema::Message>();
}
void tidy(const schema::BenchRun&) {}
void tidy(const schema::SweepRun&) {}

/// Oldest first, so that the order of runs of one second stays.
template <typename T>
base::Result<void> move_runs(const Connection& connection, std::string_view query) {
  RL_TRY_ASSIGN(auto rows, connection.prepare(query));
  while (true) {
    RL_TRY_ASSIGN(const bool row, rows.step());
    if (!row) return {};
    const auto json = parse_record(rows.text(0), "run");
    auto run = json ? base::json_as<T>(*json, "run") : tl::unexpected<base::Error>(json.error());
    auto request = run ? old_request(*run, *json) : tl::unexpected<base::Error>(run.error());
    if (!request || run->id != rows.text(1)) {
      RL_TRY(move_damaged(connection, T::kLayout.kind, rows));
      continue;
    }
    run->request = *std::move(request);
    tidy(*run);
    RL_TRY(put_run(connection, schema::to_run(*run)));
  }
}

}  // namespace

base::Result<void> move_to_one_table(const Connection& connection, const TextReader&) {
  RL_TRY(connection.execute(kSetAside));
  RL_TRY(connection.execute(kOneTableSchema));
  RL_TRY(connection.execute(kMoveTrials));
  RL_TRY(move_runs<schema::SweepRun>(
      connection,
      "SELECT record, s.id, s.started_utc FROM sweep_run_records r JOIN sweep_runs s ON s.id = "
      "r.id ORDER BY s.started_utc, s.rowid"));
  RL_TRY(move_runs<schema::BenchRun>(
      connection,
      "SELECT record, s.id, s.started_utc FROM bench_run_records r JOIN bench_runs s ON s.id = "
      "r.id ORDER BY s.started_utc, s.rowid"));
  RL_TRY(move_runs<schema::TuneRun>(connection,
                                    "SELECT record, s.id, s.started_utc FROM run_records_3 r JOIN runs_3 s ON s.id = "
                                    "r.id ORDER BY s.started_utc, s.rowid"));
  return connection.execute(kDropOld);
}

}  // namespace ridgeline::store
