// SPDX-License-Identifier: Apache-2.0
#include "store/run_records.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "store/migration.hpp"

namespace ridgeline::store {

using base::ErrorCode;

base::Result<std::unique_ptr<Connection>> open_results(const std::filesystem::path& path, const StoreOptions& options) {
  RL_TRY_ASSIGN(auto connection, Connection::open(path, options.busy_timeout));
  RL_TRY(migrate(*connection));
  RL_TRY(connection->execute("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON"));
  return connection;
}

base::Result<std::string> resolve_run(Connection& connection, std::string_view matches, const std::string& id,
                                      const RunWords& words) {
  const auto file = connection.path().string();
  if (id.empty())
    return base::fail(ErrorCode::invalid_argument, "run id is empty, expected an id of a {} or \"latest\"", words.one);
  RL_TRY_ASSIGN(auto statement, connection.prepare(matches));
  statement.bind(1, id);
  std::vector<std::string> found;
  while (true) {
    RL_TRY_ASSIGN(const bool row, statement.step());
    if (!row) break;
    found.emplace_back(statement.text(0));
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

}  // namespace ridgeline::store
