// SPDX-License-Identifier: Apache-2.0
#include "store/store.hpp"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "store/migration.hpp"
#include "store/record_json.hpp"
#include "store/run_table.hpp"
#include "store/sample_codec.hpp"
#include "store/sqlite.hpp"

namespace ridgeline::store {

using base::Result;

namespace {

constexpr std::string_view kSaveTrial =
    "INSERT INTO trials (key, kind, status, measured_utc, duration_s, spec, outcome) VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
    "?7) ON CONFLICT (key) DO UPDATE SET kind = excluded.kind, status = excluded.status, measured_utc = "
    "excluded.measured_utc, duration_s = excluded.duration_s, spec = excluded.spec, outcome = excluded.outcome";
constexpr std::string_view kFindTrial =
    "SELECT kind, status, measured_utc, duration_s, spec, outcome, key FROM trials WHERE key = ?1 AND (?2 = '' OR "
    "measured_utc <= ?2)";
// A trial that was measured again is kept as "KEY@UTC"; '@' is followed by 'A'.
constexpr std::string_view kFindOlderTrial =
    "SELECT kind, status, measured_utc, duration_s, spec, outcome, key FROM trials WHERE key > ?1 || '@' AND key < ?1 "
    "|| 'A' AND measured_utc <= ?2 ORDER BY measured_utc DESC LIMIT 1";
constexpr std::string_view kKeepOlderTrial =
    "INSERT OR REPLACE INTO trials (key, kind, status, measured_utc, duration_s, spec, outcome) SELECT key || '@' || "
    "measured_utc, kind, status, measured_utc, duration_s, spec, outcome FROM trials WHERE key = ?1 AND measured_utc < "
    "?2 AND EXISTS (SELECT 1 FROM runs WHERE finished_utc >= measured_utc) RETURNING key";
constexpr std::string_view kMoveSamples = "UPDATE samples SET key = ?2 WHERE key = ?1";
constexpr std::string_view kDropSamples = "DELETE FROM samples WHERE key = ?1";
constexpr std::string_view kSaveSamples = "INSERT INTO samples (key, part, samples) VALUES (?1, ?2, ?3)";
constexpr std::string_view kFindSamples = "SELECT part, samples FROM samples WHERE key = ?1 ORDER BY part";
constexpr std::string_view kFindLearningOfOthers =
    "SELECT learned FROM learning WHERE device = ?1 AND provider = ?2 AND subject <> ?3 ORDER BY subject";
constexpr std::string_view kFindLearning =
    "SELECT learned FROM learning WHERE device = ?1 AND provider = ?2 AND subject = ?3";
constexpr std::string_view kSaveLearning =
    "INSERT INTO learning (device, provider, subject, learned) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (device, provider, "
    "subject) DO UPDATE SET learned = excluded.learned";

/// All that the rows of the query hold together.
Result<schema::DeviceLearning> sum_learning(const Connection& connection, std::string_view query,
                                            const std::string& device, const std::string& provider,
                                            const std::string& subject) {
  schema::DeviceLearning all;
  RL_TRY_ASSIGN(auto rows, connection.prepare(query));
  rows.bind(1, device).bind(2, provider).bind(3, subject);
  while (true) {
    RL_TRY_ASSIGN(const bool row, rows.step());
    if (!row) return all;
    const auto what = "what was learned of " + device;
    RL_TRY_ASSIGN(const auto record, parse_record(rows.text(0), what));
    RL_TRY_ASSIGN(const auto one, base::json_as<schema::DeviceLearning>(record, what));
    all.add(one);
  }
}

Result<void> prepare_file(Connection& connection, const TextReader& reader) {
  if (connection.read_only()) return check_migrated(connection);
  RL_TRY(migrate(connection, reader));
  return connection.execute("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
}

}  // namespace

struct Store::Impl {
  std::unique_ptr<Connection> connection;

  [[nodiscard]] std::string name(const TrialRecord& record) const {
    return fmt::format("{} {} of database {}", record.kind, record.key, connection->path().string());
  }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& path, const StoreOptions& options) {
  auto impl = std::make_unique<Impl>();
  const auto prepare = [reader = options.read_text](Connection& connection) {
    return prepare_file(connection, reader);
  };
  RL_TRY_ASSIGN(impl->connection, Connection::open_for_use(path, options.busy_timeout, options.access, prepare));
  return Store(std::move(impl));
}

const std::filesystem::path& Store::path() const noexcept { return impl_->connection->path(); }

Result<std::optional<TrialRecord>> Store::find_record(const std::string& key, std::string_view as_of) {
  const auto& connection = *impl_->connection;
  if (!connection.is_there()) return std::optional<TrialRecord>();
  // Both reads in one transaction: another process may replace the trial in between.
  RL_TRY_ASSIGN(auto transaction, connection.begin_read());
  RL_TRY_ASSIGN(auto statement, connection.prepare(kFindTrial));
  RL_TRY_ASSIGN(bool found, statement.bind(1, key).bind(2, as_of).step());
  if (!found && !as_of.empty()) {
    RL_TRY_ASSIGN(statement, connection.prepare(kFindOlderTrial));
    RL_TRY_ASSIGN(found, statement.bind(1, key).bind(2, as_of).step());
  }
  if (!found) return std::optional<TrialRecord>();
  TrialRecord record;
  record.key = key;
  record.kind = statement.text(0);
  record.status = statement.text(1);
  record.measured_utc = statement.text(2);
  record.duration_s = statement.real(3);
  const auto what = impl_->name(record);
  RL_TRY_ASSIGN(record.spec, parse_record(statement.text(4), what));
  RL_TRY_ASSIGN(record.outcome, parse_record(statement.text(5), what));
  RL_TRY_ASSIGN(auto samples, connection.prepare(kFindSamples));
  samples.bind(1, statement.text(6));
  while (true) {
    RL_TRY_ASSIGN(const bool row, samples.step());
    if (!row) return std::optional<TrialRecord>(std::move(record));
    if (samples.integer(0) != static_cast<std::int64_t>(record.samples.size()))
      return base::fail(base::ErrorCode::corrupt, "{} lacks the samples of part {}", what, record.samples.size());
    auto decoded = decode_samples(samples.blob(1));
    if (!decoded) return tl::unexpected<base::Error>(std::move(decoded).error().in(what));
    record.samples.push_back(std::move(*decoded));
  }
}

Result<void> Store::save_record(const TrialRecord& record) {
  const auto& connection = *impl_->connection;
  const auto spec = dump_record(record.spec);
  const auto outcome = dump_record(record.outcome);
  std::vector<std::string> parts;
  for (const auto& samples : record.samples) parts.push_back(encode_samples(samples));
  RL_TRY_ASSIGN(auto transaction, connection.begin());
  RL_TRY_ASSIGN(auto keep_older, connection.prepare(kKeepOlderTrial));
  RL_TRY_ASSIGN(const bool kept, keep_older.bind(1, record.key).bind(2, record.measured_utc).step());
  if (kept) {
    const std::string older(keep_older.text(0));
    RL_TRY(keep_older.run());  // to its end: it is one row
    RL_TRY_ASSIGN(auto move_samples, connection.prepare(kMoveSamples));
    RL_TRY(move_samples.bind(1, record.key).bind(2, older).run());
  }
  RL_TRY_ASSIGN(auto save, connection.prepare(kSaveTrial));
  save.bind(1, record.key).bind(2, record.kind).bind(3, record.status).bind(4, record.measured_utc);
  RL_TRY(save.bind(5, record.duration_s).bind(6, spec).bind(7, outcome).run());
  RL_TRY_ASSIGN(auto drop, connection.prepare(kDropSamples));
  RL_TRY(drop.bind(1, record.key).run());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    RL_TRY_ASSIGN(auto keep, connection.prepare(kSaveSamples));
    RL_TRY(keep.bind(1, record.key).bind(2, static_cast<std::int64_t>(part)).bind_blob(3, parts[part]).run());
  }
  return transaction.commit();
}

Result<std::optional<StoredTrial>> Store::find_trial(const std::string& key, std::string_view as_of) {
  RL_TRY_ASSIGN(auto record, find_record(key, as_of));
  if (!record) return std::optional<StoredTrial>();
  const auto what = impl_->name(*record);
  StoredTrial trial;
  RL_TRY_ASSIGN(trial.spec, base::json_as<schema::TrialSpec>(record->spec, what));
  RL_TRY_ASSIGN(trial.outcome, base::json_as<schema::TrialOutcome>(record->outcome, what));
  if (trial.outcome.measurement && !record->samples.empty())
    trial.outcome.measurement->latency_ns = std::move(record->samples.front());
  return std::optional<StoredTrial>(std::move(trial));
}

Result<void> Store::save_trial(const schema::TrialSpec& spec, const schema::TrialOutcome& outcome) {
  auto slim = outcome;
  TrialRecord record{spec.key(),
                     std::string(kTrialKind),
                     std::string(base::enum_name(outcome.status)),
                     outcome.measured_utc,
                     outcome.duration_s,
                     spec,
                     {},
                     {}};
  if (slim.measurement) record.samples.push_back(std::exchange(slim.measurement->latency_ns, {}));
  record.outcome = slim;
  return save_record(record);
}

Result<std::optional<StoredPair>> Store::find_pair(const std::string& key, std::string_view as_of) {
  RL_TRY_ASSIGN(auto record, find_record(key, as_of));
  if (!record) return std::optional<StoredPair>();
  const auto what = impl_->name(*record);
  StoredPair pair;
  RL_TRY_ASSIGN(pair.spec, base::json_as<schema::PairedSpec>(record->spec, what));
  RL_TRY_ASSIGN(pair.outcome, base::json_as<schema::PairedOutcome>(record->outcome, what));
  if (!pair.outcome.measurement) return std::optional<StoredPair>(std::move(pair));
  auto& blocks = pair.outcome.measurement->blocks;
  if (record->samples.size() != blocks.size())
    return base::fail(base::ErrorCode::corrupt, "{} lacks the samples of block {}", what, record->samples.size());
  for (std::size_t block = 0; block < blocks.size(); ++block)
    blocks[block].latency_ns = std::move(record->samples[block]);
  return std::optional<StoredPair>(std::move(pair));
}

Result<void> Store::save_pair(const schema::PairedSpec& spec, const schema::PairedOutcome& outcome) {
  auto slim = outcome;
  TrialRecord record{spec.key(),
                     std::string(kPairKind),
                     std::string(base::enum_name(outcome.status)),
                     outcome.measured_utc,
                     outcome.duration_s,
                     spec,
                     {},
                     {}};
  if (slim.measurement)
    for (auto& block : slim.measurement->blocks) record.samples.push_back(std::exchange(block.latency_ns, {}));
  record.outcome = slim;
  return save_record(record);
}

Result<void> Store::save_run(const schema::Run& run) {
  RL_TRY_ASSIGN(auto transaction, impl_->connection->begin());
  RL_TRY(put_run(*impl_->connection, run));
  return transaction.commit();
}

Result<schema::Run> Store::load_run(const std::string& reference, std::string_view kind) {
  RL_TRY_ASSIGN(const auto id, resolve_run(*impl_->connection, reference, kind));
  return read_run(*impl_->connection, id);
}

Result<std::vector<schema::RunSummary>> Store::list_runs(std::size_t limit, std::string_view kind) {
  return store::list_runs(*impl_->connection, limit, kind);
}

Result<schema::DeviceLearning> Store::learned(const std::string& device, const std::string& provider,
                                              const std::string& subject) {
  if (!impl_->connection->is_there()) return schema::DeviceLearning{};
  return sum_learning(*impl_->connection, kFindLearningOfOthers, device, provider, subject);
}

Result<void> Store::learn(const std::string& device, const std::string& provider, const std::string& subject,
                          const schema::DeviceLearning& of_run) {
  const auto& connection = *impl_->connection;
  RL_TRY_ASSIGN(auto transaction, connection.begin());
  RL_TRY_ASSIGN(auto all, sum_learning(connection, kFindLearning, device, provider, subject));
  all.add(of_run);
  const auto record = dump_record(all);
  RL_TRY_ASSIGN(auto save, connection.prepare(kSaveLearning));
  RL_TRY(save.bind(1, device).bind(2, provider).bind(3, subject).bind(4, record).run());
  return transaction.commit();
}

}  // namespace ridgeline::store
