// SPDX-License-Identifier: Apache-2.0
#include "store/message_migration.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/profile.hpp"
#include "schema/run.hpp"
#include "schema/stream_run.hpp"
#include "schema/sweep.hpp"
#include "schema/training_run.hpp"
#include "schema/trial_outcome.hpp"
#include "schema/tune_run.hpp"
#include "store/record_json.hpp"
#include "store/run_table.hpp"
#include "store/trial_record.hpp"

namespace ridgeline::store {
namespace {

using base::Json;
using base::Result;

/// Each text in the record, wherever it is.
void read_texts(Json& json, const TextReader& reader) {
  if (json.is_object() && json.value("code", Json()) == schema::kLegacy) {
    json = reader(json.get<schema::Message>());
    return;
  }
  if (json.is_structured())
    for (auto& part : json) read_texts(part, reader);
}

/// The record in its present form; nullopt: it cannot be read. Reading makes a legacy message of each text.
template <typename T>
std::optional<Json> present_form(const Json& record, const TextReader& reader) {
  const auto value = base::json_as<T>(record, "record");
  if (!value) return std::nullopt;
  Json json = *value;
  read_texts(json, reader);
  return json;
}

std::optional<Json> present_outcome(std::string_view kind, const Json& outcome, const TextReader& reader) {
  if (kind == kTrialKind) return present_form<schema::TrialOutcome>(outcome, reader);
  if (kind == kPairKind) return present_form<schema::PairedOutcome>(outcome, reader);
  if (kind == kTrainingKind) return present_form<schema::TrainingOutcome>(outcome, reader);
  if (kind == kCommandKind) return present_form<schema::SweepOutcome>(outcome, reader);
  return std::nullopt;
}

template <typename T>
std::optional<schema::Run> present_run_as(const schema::Run& run, const TextReader& reader) {
  if (run.kind != T::kLayout.kind) return std::nullopt;
  const auto json = present_form<T>(schema::unwrap_run(T::kLayout, run), reader);
  return json ? std::optional(schema::to_run(json->template get<T>())) : std::nullopt;
}

std::optional<schema::Run> present_run(const schema::Run& run, const TextReader& reader) {
  auto out = present_run_as<schema::TuneRun>(run, reader);
  if (!out) out = present_run_as<schema::BenchRun>(run, reader);
  if (!out) out = present_run_as<schema::SweepRun>(run, reader);
  if (!out) out = present_run_as<schema::ProfileRun>(run, reader);
  if (!out) out = present_run_as<schema::StreamRun>(run, reader);
  return out;
}

Result<std::vector<std::string>> names_in(const Connection& connection, std::string_view query) {
  RL_TRY_ASSIGN(auto rows, connection.prepare(query));
  std::vector<std::string> out;
  while (true) {
    RL_TRY_ASSIGN(const bool row, rows.step());
    if (!row) return out;
    out.emplace_back(rows.text(0));
  }
}

Result<void> move_trials(const Connection& connection, const TextReader& reader) {
  RL_TRY_ASSIGN(const auto keys, names_in(connection, "SELECT key FROM trials"));
  for (const auto& key : keys) {
    RL_TRY_ASSIGN(auto read, connection.prepare("SELECT kind, outcome FROM trials WHERE key = ?1"));
    RL_TRY_ASSIGN(const bool found, read.bind(1, key).step());
    if (!found) continue;
    const auto outcome = parse_record(read.text(1), key);
    const auto present = outcome ? present_outcome(read.text(0), *outcome, reader) : std::nullopt;
    if (!present) continue;
    const auto text = dump_record(*present);
    RL_TRY_ASSIGN(auto write, connection.prepare("UPDATE trials SET outcome = ?2 WHERE key = ?1"));
    RL_TRY(write.bind(1, key).bind(2, text).run());
  }
  return {};
}

Result<void> move_runs(const Connection& connection, const TextReader& reader) {
  RL_TRY_ASSIGN(const auto ids, names_in(connection, "SELECT id FROM runs ORDER BY rowid"));
  for (const auto& id : ids) {
    const auto run = read_run(connection, id);
    const auto present = run ? present_run(*run, reader) : std::nullopt;
    if (present) RL_TRY(put_run(connection, *present));
  }
  return {};
}

}  // namespace

Result<void> move_texts_to_messages(const Connection& connection, const TextReader& reader) {
  const TextReader known = reader ? reader : [](const schema::Message& legacy) { return legacy; };
  RL_TRY(move_trials(connection, known));
  return move_runs(connection, known);
}

}  // namespace ridgeline::store
