// SPDX-License-Identifier: Apache-2.0
#include "store/run_table.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "store/record_json.hpp"

namespace ridgeline::store {

using base::ErrorCode;
using base::Result;

namespace {

constexpr std::string_view kPutRun =
    "INSERT INTO runs (id, kind, started_utc, finished_utc, subject, provider, device, objective, trials, decision, "
    "answer, value, duration_s) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) "
    "ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, started_utc = excluded.started_utc, finished_utc = "
    "excluded.finished_utc, subject = excluded.subject, provider = excluded.provider, device = excluded.device, "
    "objective = excluded.objective, trials = excluded.trials, decision = excluded.decision, answer = excluded.answer, "
    "value = excluded.value, duration_s = excluded.duration_s";
constexpr std::string_view kPutRecord =
    "INSERT INTO run_records (id, record) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET record = excluded.record";
constexpr std::string_view kReadRecord = "SELECT record FROM run_records WHERE id = ?1";
// The end of an id is chance: of runs of one second the one saved last is the newest.
constexpr std::string_view kListRuns =
    "SELECT id, kind, started_utc, finished_utc, subject, provider, device, objective, trials, decision, answer, "
    "value, duration_s FROM runs WHERE ?2 = '' OR kind = ?2 ORDER BY started_utc DESC, rowid DESC LIMIT ?1";
constexpr std::string_view kRunIds =
    "SELECT id, kind FROM runs WHERE ?1 = '' OR kind = ?1 ORDER BY started_utc DESC, rowid DESC";
constexpr std::string_view kMatchRuns =
    "SELECT id, kind FROM runs WHERE substr(id, 1, length(?1)) = ?1 ORDER BY started_utc DESC, rowid DESC";

constexpr std::string_view kLatest = "latest";
constexpr std::size_t kMostNamed = 5;

struct Found {
  std::string id;
  std::string kind;
};

Result<std::vector<Found>> query_runs(const Connection& connection, std::string_view sql, std::string_view parameter) {
  std::vector<Found> out;
  if (!connection.is_there()) return out;
  RL_TRY_ASSIGN(auto statement, connection.prepare(sql));
  statement.bind(1, parameter);
  while (true) {
    RL_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return out;
    out.push_back({std::string(statement.text(0)), std::string(statement.text(1))});
  }
}

/// How to make one.
std::string example_of(std::string_view kind) {
  return kind.empty() || kind == "tune" ? "ridgeline tune MODEL" : fmt::format("ridgeline {}", kind);
}

Result<std::string> latest_run(const Connection& connection, std::string_view kind) {
  RL_TRY_ASSIGN(const auto runs, query_runs(connection, kRunIds, kind));
  if (!runs.empty()) return runs.front().id;
  if (kind.empty())
    return base::fail(ErrorCode::not_found, "database {} holds no runs yet", connection.path().string())
        .hint("create one with `{}`", example_of(kind));
  // The store does not know which kinds there are: "latest:trial" is a slip, "latest:bench" is early.
  return base::fail(ErrorCode::not_found, "database {} holds no runs of ridgeline {} yet", connection.path().string(),
                    kind)
      .hint("`ridgeline history` lists its runs and their kinds; a new one comes from `{}`", example_of(kind));
}

/// What is no message (words of a run that could not be migrated, a damaged line) is shown as it is.
schema::Message answer_in(const std::string& text) {
  const auto json = base::Json::parse(text, nullptr, false);
  if (json.is_object())
    if (auto message = base::json_as<schema::Message>(json, "answer")) return *message;
  return base::Json(text).get<schema::Message>();
}

Result<std::string> of_kind(const Found& found, std::string_view kind) {
  if (kind.empty() || found.kind == kind) return found.id;
  return base::fail(ErrorCode::invalid_argument, "run {} is one of ridgeline {}, expected one of ridgeline {}",
                    found.id, found.kind, kind)
      .hint("see ridgeline history");
}

}  // namespace

Result<void> put_run(const Connection& connection, const schema::Run& run) {
  if (run.id.empty()) return base::fail(ErrorCode::internal, "a run without an id cannot be stored");
  const auto& line = run.line;
  RL_TRY_ASSIGN(auto save, connection.prepare(kPutRun));
  save.bind(1, run.id).bind(2, run.kind).bind(3, run.started_utc).bind(4, run.finished_utc).bind(5, line.subject);
  save.bind(6, line.provider).bind(7, line.device).bind(8, line.objective);
  save.bind(9, static_cast<std::int64_t>(run.trials.size())).bind(10, line.decision);
  const auto answer = line.answer.empty() ? std::string() : base::dump_json(line.answer);  // bound by reference
  save.bind(11, answer);
  if (line.value)
    save.bind(12, *line.value);
  else
    save.bind_null(12);
  RL_TRY(save.bind(13, run.duration_s).run());
  const auto record = dump_record(run);
  RL_TRY_ASSIGN(auto keep, connection.prepare(kPutRecord));
  return keep.bind(1, run.id).bind(2, record).run();
}

Result<std::vector<schema::RunSummary>> list_runs(const Connection& connection, std::size_t limit,
                                                  std::string_view kind) {
  std::vector<schema::RunSummary> out;
  if (!connection.is_there()) return out;
  RL_TRY_ASSIGN(auto statement, connection.prepare(kListRuns));
  statement.bind(1, static_cast<std::int64_t>(std::min<std::size_t>(limit, INT64_MAX))).bind(2, kind);
  while (true) {
    RL_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return out;
    schema::RunSummary run;
    run.id = statement.text(0);
    run.kind = statement.text(1);
    run.started_utc = statement.text(2);
    run.finished = !statement.text(3).empty();
    run.line.subject = statement.text(4);
    run.line.provider = statement.text(5);
    run.line.device = statement.text(6);
    run.line.objective = statement.text(7);
    run.trials = static_cast<int>(statement.integer(8));
    run.line.decision = statement.text(9);
    run.line.answer = answer_in(std::string(statement.text(10)));
    if (!statement.is_null(11)) run.line.value = statement.real(11);
    run.duration_s = statement.real(12);
    out.push_back(std::move(run));
  }
}

Result<std::string> resolve_run(const Connection& connection, const std::string& reference, std::string_view kind) {
  const auto file = connection.path().string();
  if (reference.empty())
    return base::fail(ErrorCode::invalid_argument,
                      "run id is empty, expected an id of `ridgeline history` or \"latest\"")
        .hint("see ridgeline history");
  if (reference == kLatest) return latest_run(connection, kind);
  if (reference.rfind(std::string(kLatest) + ":", 0) == 0) {
    const auto asked = reference.substr(kLatest.size() + 1);
    RL_TRY_ASSIGN(const auto id, latest_run(connection, asked));
    return of_kind({id, asked}, kind);
  }
  RL_TRY_ASSIGN(auto matches, query_runs(connection, kMatchRuns, reference));
  for (const auto& match : matches)
    if (match.id == reference) return of_kind(match, kind);
  // A beginning that is unique among those that can be meant is good enough.
  if (matches.size() > 1 && !kind.empty() &&
      std::any_of(matches.begin(), matches.end(), [&](const auto& match) { return match.kind == kind; }))
    std::erase_if(matches, [&](const auto& match) { return match.kind != kind; });
  if (matches.size() == 1) return of_kind(matches.front(), kind);
  if (!matches.empty()) {
    std::vector<std::string> ids;
    for (const auto& match : matches)
      if (ids.size() < kMostNamed) ids.push_back(match.id);
    return base::fail(ErrorCode::invalid_argument, "run {} is ambiguous in {}: {}{}", reference, file,
                      fmt::join(ids, ", "), matches.size() > kMostNamed ? ", ..." : "")
        .hint("give more digits");
  }
  RL_TRY_ASSIGN(const auto all, query_runs(connection, kRunIds, ""));
  if (all.empty())
    return base::fail(ErrorCode::not_found, "run {} is not in {}, which holds no runs yet", reference, file)
        .hint("create one with `{}`, or name another file with --db", example_of(kind));
  std::vector<std::string> ids;
  for (const auto& run : all) ids.push_back(run.id);
  const auto near = base::did_you_mean(reference, ids);
  return base::fail(ErrorCode::not_found, "run {} is not in {}", reference, file)
      .hint("{}",
            near.empty() ? fmt::format("`ridgeline history` lists its runs, the latest is {}", ids.front()) : near);
}

Result<schema::Run> read_run(const Connection& connection, const std::string& id) {
  const auto what = fmt::format("run {} of database {}", id, connection.path().string());
  RL_TRY_ASSIGN(auto statement, connection.prepare(kReadRecord));
  RL_TRY_ASSIGN(const bool found, statement.bind(1, id).step());
  if (!found) return base::fail(ErrorCode::corrupt, "{} has no record", what);
  RL_TRY_ASSIGN(const auto json, parse_record(statement.text(0), what));
  return base::json_as<schema::Run>(json, what);
}

}  // namespace ridgeline::store
