// SPDX-License-Identifier: Apache-2.0
#include "store/run_records.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "store/migration.hpp"

namespace ridgeline::store {

using base::ErrorCode;

base::Result<std::unique_ptr<Connection>> open_results(const std::filesystem::path& path, const StoreOptions& options) {
  const auto prepare = [](Connection& connection) -> base::Result<void> {
    if (connection.read_only()) return check_migrated(connection);
    RL_TRY(migrate(connection));
    return connection.execute("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
  };
  return Connection::open_for_use(path, options.busy_timeout, options.access, prepare);
}

base::Result<std::string> resolve_run(Connection& connection, std::string_view matches, const std::string& id,
                                      const RunWords& words) {
  const auto file = connection.path().string();
  if (id.empty())
    return base::fail(ErrorCode::invalid_argument, "run id is empty, expected an id of a {} or \"latest\"", words.one);
  std::vector<std::string> found;
  std::optional<Statement> rows;
  if (connection.is_there()) {
    RL_TRY_ASSIGN(rows, connection.prepare(matches));
    rows->bind(1, id);
  }
  while (rows) {
    RL_TRY_ASSIGN(const bool row, rows->step());
    if (!row) break;
    found.emplace_back(rows->text(0));
    if (found.back() == id) return id;
  }
  if (found.empty())
    return base::fail(ErrorCode::not_found, "{} {} is not in {}; `ridgeline {}` makes one", words.one, id, file,
                      words.command);
  if (id != "latest" && found.size() > 1)
    return base::fail(ErrorCode::invalid_argument, "run {} is ambiguous in {}: {}, give more digits", id, file,
                      fmt::join(found, ", "));
  return found.front();
}

base::Result<void> save_run_row(Connection& connection, std::string_view save_row, std::string_view save_record,
                                const RunRow& row, const std::string& record) {
  if (row.id.empty()) return base::fail(ErrorCode::internal, "a run without an id cannot be stored");
  RL_TRY_ASSIGN(auto transaction, connection.begin());
  RL_TRY_ASSIGN(auto save, connection.prepare(save_row));
  save.bind(1, row.id).bind(2, row.started_utc).bind(3, row.finished_utc).bind(4, row.subject).bind(5, row.detail);
  save.bind(6, static_cast<std::int64_t>(row.trials)).bind(7, row.recommended);
  if (row.value)
    save.bind(8, *row.value);
  else
    save.bind_null(8);
  RL_TRY(save.bind(9, row.duration_s).run());
  RL_TRY_ASSIGN(auto keep, connection.prepare(save_record));
  RL_TRY(keep.bind(1, row.id).bind(2, record).run());
  return transaction.commit();
}

base::Result<std::vector<RunRow>> list_run_rows(Connection& connection, std::string_view query, std::size_t limit) {
  if (!connection.is_there()) return std::vector<RunRow>();
  RL_TRY_ASSIGN(auto statement, connection.prepare(query));
  statement.bind(1, static_cast<std::int64_t>(limit));
  std::vector<RunRow> out;
  while (true) {
    RL_TRY_ASSIGN(const bool found, statement.step());
    if (!found) return out;
    RunRow row;
    row.id = statement.text(0);
    row.started_utc = statement.text(1);
    row.finished_utc = statement.text(2);
    row.subject = statement.text(3);
    row.detail = statement.text(4);
    row.trials = static_cast<int>(statement.integer(5));
    row.recommended = statement.text(6);
    if (!statement.is_null(7)) row.value = statement.real(7);
    row.duration_s = statement.real(8);
    out.push_back(std::move(row));
  }
}

}  // namespace ridgeline::store
