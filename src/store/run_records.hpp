// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "store/record_json.hpp"
#include "store/sqlite.hpp"
#include "store/store.hpp"

// What the stores of training benchmarks and sweeps have in common: a JSON record for each trial and run, found by key.
namespace ridgeline::store {

/// Opens the results file and migrates it, if it may be written.
[[nodiscard]] base::Result<std::unique_ptr<Connection>> open_results(const std::filesystem::path& path,
                                                                     const StoreOptions& options);

/// How messages name a run.
struct RunWords {
  std::string_view one;      ///< "sweep"
  std::string_view command;  ///< the subcommand that makes one
};

/// The whole id of the run that `id` (an id, a unique beginning of one, or "latest") means. `matches`: a query of ids
/// by ?1, newest first. Errors: not_found, invalid_argument (empty or ambiguous).
[[nodiscard]] base::Result<std::string> resolve_run(Connection& connection, std::string_view matches,
                                                    const std::string& id, const RunWords& words);

/// A run's line in the table of its kind: the columns in their order there.
struct RunRow {
  std::string id;
  std::string started_utc;
  std::string finished_utc;  ///< "" until it has ended
  std::string subject;       ///< what was measured
  std::string detail;        ///< on what, or for what
  int trials = 0;
  std::string recommended;  ///< "" without an answer
  std::optional<double> value;
  double duration_s = 0;
};

/// Inserts or replaces a run and its record together. `save_row` binds ?1 to ?9 as RunRow has them, `save_record` the
/// id and the record. Errors: internal (no id).
[[nodiscard]] base::Result<void> save_run_row(Connection& connection, std::string_view save_row,
                                              std::string_view save_record, const RunRow& row,
                                              const std::string& record);

/// What a query by ?1, the limit, gives, its columns as RunRow has them.
[[nodiscard]] base::Result<std::vector<RunRow>> list_run_rows(Connection& connection, std::string_view query,
                                                              std::size_t limit);

/// The record that a query by ?1 gives in its first column; nullopt when there is no row. `what` names it in messages.
template <typename T>
[[nodiscard]] base::Result<std::optional<T>> find_record(Connection& connection, std::string_view query,
                                                         const std::string& key, std::string_view what) {
  RL_TRY_ASSIGN(auto statement, connection.prepare(query));
  RL_TRY_ASSIGN(const bool found, statement.bind(1, key).step());
  if (!found) return std::optional<T>();
  const auto name = fmt::format("{} {}", what, key);
  RL_TRY_ASSIGN(const auto json, parse_record(statement.text(0), name));
  RL_TRY_ASSIGN(auto record, base::json_as<T>(json, name));
  return std::optional<T>(std::move(record));
}

/// The record of the run `id`, as resolve_run and find_record. Errors: corrupt too (a run without a record).
template <typename T>
[[nodiscard]] base::Result<T> load_run_record(Connection& connection, std::string_view matches, std::string_view query,
                                              const std::string& id, const RunWords& words) {
  RL_TRY_ASSIGN(const auto whole, resolve_run(connection, matches, id, words));
  RL_TRY_ASSIGN(auto record, find_record<T>(connection, query, whole, words.one));
  if (!record) return base::fail(base::ErrorCode::corrupt, "{} {} has no record", words.one, whole);
  return std::move(*record);
}

}  // namespace ridgeline::store
