// SPDX-License-Identifier: Apache-2.0
#include "store/store.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/text.hpp"
#include "store/record_json.hpp"
#include "store/run_records.hpp"
#include "store/sample_codec.hpp"
#include "store/sqlite.hpp"

namespace ridgeline::store {
namespace {

constexpr std::string_view kSaveTuneTrial =
    "INSERT INTO trials (key, status, measured_utc, duration_s, spec, outcome) VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
    "ON CONFLICT (key) DO UPDATE SET status = excluded.status, measured_utc = excluded.measured_utc, "
    "duration_s = excluded.duration_s, spec = excluded.spec, outcome = excluded.outcome";
constexpr std::string_view kDropTrialSamples = "DELETE FROM trial_samples WHERE key = ?1";
constexpr std::string_view kSaveTrialSamples = "INSERT INTO trial_samples (key, samples) VALUES (?1, ?2)";
constexpr std::string_view kFindTuneTrial =
    "SELECT t.spec, t.outcome, s.samples FROM trials t LEFT JOIN trial_samples s ON s.key = t.key WHERE t.key = ?1";

constexpr std::string_view kSavePair =
    "INSERT INTO pairs (key, status, measured_utc, duration_s, spec, outcome) VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
    "ON CONFLICT (key) DO UPDATE SET status = excluded.status, measured_utc = excluded.measured_utc, "
    "duration_s = excluded.duration_s, spec = excluded.spec, outcome = excluded.outcome";
constexpr std::string_view kDropPairSamples = "DELETE FROM pair_samples WHERE key = ?1";
constexpr std::string_view kSavePairSamples = "INSERT INTO pair_samples (key, block, samples) VALUES (?1, ?2, ?3)";
constexpr std::string_view kFindPair = "SELECT spec, outcome FROM pairs WHERE key = ?1";
constexpr std::string_view kFindPairSamples = "SELECT block, samples FROM pair_samples WHERE key = ?1 ORDER BY block";

constexpr std::string_view kSaveTuneRun =
    "INSERT INTO runs (id, started_utc, finished_utc, command, model, provider, device, objective, trials, decision, "
    "gain_ratio, duration_s) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) "
    "ON CONFLICT (id) DO UPDATE SET started_utc = excluded.started_utc, finished_utc = excluded.finished_utc, "
    "command = excluded.command, model = excluded.model, provider = excluded.provider, device = excluded.device, "
    "objective = excluded.objective, trials = excluded.trials, decision = excluded.decision, "
    "gain_ratio = excluded.gain_ratio, duration_s = excluded.duration_s";
constexpr std::string_view kSaveRunRecord =
    "INSERT INTO run_records (id, record) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET record = excluded.record";
constexpr std::string_view kListTuneRuns =
    "SELECT id, started_utc, finished_utc, command, model, provider, device, objective, trials, decision, gain_ratio, "
    "duration_s FROM runs ORDER BY started_utc DESC, rowid DESC LIMIT ?1";
constexpr std::string_view kMatchTuneRuns =
    "SELECT id FROM runs WHERE substr(id, 1, length(?1)) = ?1 ORDER BY started_utc DESC, rowid DESC LIMIT 6";
constexpr std::string_view kLatestRun = "SELECT id FROM runs ORDER BY started_utc DESC, rowid DESC LIMIT 1";
constexpr std::string_view kRunIds = "SELECT id FROM runs ORDER BY started_utc DESC, rowid DESC";
constexpr std::string_view kLoadRunRecord = "SELECT record FROM run_records WHERE id = ?1";

constexpr std::string_view kTuneCommand = "tune";

template <typename T>
base::Result<T> read_record(std::string_view text, const std::string& what) {
  RL_TRY_ASSIGN(const auto json, parse_record(text, what));
  return base::json_as<T>(json, what);
}

}  // namespace

std::string model_name(const schema::TuneRun& run) {
  if (run.workload.kind == "synthetic") return "synthetic:" + run.workload.location;
  return std::filesystem::path(run.workload.location).filename().string();
}

struct Store::Impl {
  std::unique_ptr<Connection> connection;

  [[nodiscard]] std::string name(std::string_view kind, const std::string& key) const {
    return fmt::format("{} {} of database {}", kind, key, connection->path().string());
  }
  /// One statement with the key as its only parameter.
  [[nodiscard]] base::Result<void> run_for(std::string_view sql, const std::string& key) const {
    RL_TRY_ASSIGN(auto statement, connection->prepare(sql));
    return statement.bind(1, key).run();
  }
  [[nodiscard]] base::Result<std::vector<std::string>> ids(std::string_view sql,
                                                           const std::string* parameter = nullptr) const {
    std::vector<std::string> out;
    if (!connection->is_there()) return out;
    RL_TRY_ASSIGN(auto statement, connection->prepare(sql));
    if (parameter) statement.bind(1, *parameter);
    while (true) {
      RL_TRY_ASSIGN(const bool row, statement.step());
      if (!row) return out;
      out.emplace_back(statement.text(0));
    }
  }
  [[nodiscard]] base::Result<std::string> resolve(const std::string& id) const;
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

base::Result<Store> Store::open(const std::filesystem::path& path, const StoreOptions& options) {
  auto impl = std::make_unique<Impl>();
  RL_TRY_ASSIGN(impl->connection, open_results(path, options));
  return Store(std::move(impl));
}

const std::filesystem::path& Store::path() const noexcept { return impl_->connection->path(); }

base::Result<std::optional<StoredTrial>> Store::find_trial(const std::string& key) {
  RL_TRY_ASSIGN(auto statement, impl_->connection->prepare(kFindTuneTrial));
  RL_TRY_ASSIGN(const bool found, statement.bind(1, key).step());
  if (!found) return std::optional<StoredTrial>();
  const auto what = impl_->name("trial", key);
  StoredTrial trial;
  RL_TRY_ASSIGN(trial.spec, read_record<schema::TrialSpec>(statement.text(0), what));
  RL_TRY_ASSIGN(trial.outcome, read_record<schema::TrialOutcome>(statement.text(1), what));
  if (trial.outcome.measurement && !statement.is_null(2)) {
    auto samples = decode_samples(statement.blob(2));
    if (!samples) return tl::unexpected<base::Error>(std::move(samples).error().in(what));
    trial.outcome.measurement->latency_ns = std::move(*samples);
  }
  return std::optional<StoredTrial>(std::move(trial));
}

base::Result<void> Store::save_trial(const schema::TrialSpec& spec, const schema::TrialOutcome& outcome) {
  const auto key = spec.key();
  const auto spec_text = dump_record(spec);
  auto slim = outcome;
  std::string samples;
  if (slim.measurement) samples = encode_samples(std::exchange(slim.measurement->latency_ns, {}));
  const auto outcome_text = dump_record(slim);

  RL_TRY_ASSIGN(auto transaction, impl_->connection->begin());
  RL_TRY_ASSIGN(auto save, impl_->connection->prepare(kSaveTuneTrial));
  save.bind(1, key).bind(2, base::enum_name(outcome.status)).bind(3, outcome.measured_utc).bind(4, outcome.duration_s);
  RL_TRY(save.bind(5, spec_text).bind(6, outcome_text).run());
  RL_TRY(impl_->run_for(kDropTrialSamples, key));
  if (outcome.measurement) {
    RL_TRY_ASSIGN(auto save_samples, impl_->connection->prepare(kSaveTrialSamples));
    RL_TRY(save_samples.bind(1, key).bind_blob(2, samples).run());
  }
  return transaction.commit();
}

base::Result<std::optional<StoredPair>> Store::find_pair(const std::string& key) {
  // Both reads in one transaction: another process may replace the pair in between.
  RL_TRY_ASSIGN(auto transaction, impl_->connection->begin_read());
  RL_TRY_ASSIGN(auto statement, impl_->connection->prepare(kFindPair));
  RL_TRY_ASSIGN(const bool found, statement.bind(1, key).step());
  if (!found) return std::optional<StoredPair>();
  const auto what = impl_->name("pair", key);
  StoredPair pair;
  RL_TRY_ASSIGN(pair.spec, read_record<schema::PairedSpec>(statement.text(0), what));
  RL_TRY_ASSIGN(pair.outcome, read_record<schema::PairedOutcome>(statement.text(1), what));
  if (!pair.outcome.measurement) return std::optional<StoredPair>(std::move(pair));
  auto& blocks = pair.outcome.measurement->blocks;
  RL_TRY_ASSIGN(auto samples, impl_->connection->prepare(kFindPairSamples));
  samples.bind(1, key);
  for (std::size_t expected = 0;; ++expected) {
    RL_TRY_ASSIGN(const bool row, samples.step());
    if (!row && expected == blocks.size()) return std::optional<StoredPair>(std::move(pair));
    if (!row || samples.integer(0) != static_cast<std::int64_t>(expected) || expected >= blocks.size())
      return base::fail(base::ErrorCode::corrupt, "{} lacks the samples of block {}", what, expected);
    auto decoded = decode_samples(samples.blob(1));
    if (!decoded) return tl::unexpected<base::Error>(std::move(decoded).error().in(what));
    blocks[expected].latency_ns = std::move(*decoded);
  }
}

base::Result<void> Store::save_pair(const schema::PairedSpec& spec, const schema::PairedOutcome& outcome) {
  const auto key = spec.key();
  const auto spec_text = dump_record(spec);
  auto slim = outcome;
  std::vector<std::string> samples;
  if (slim.measurement)
    for (auto& block : slim.measurement->blocks) samples.push_back(encode_samples(std::exchange(block.latency_ns, {})));
  const auto outcome_text = dump_record(slim);

  RL_TRY_ASSIGN(auto transaction, impl_->connection->begin());
  RL_TRY_ASSIGN(auto save, impl_->connection->prepare(kSavePair));
  save.bind(1, key).bind(2, base::enum_name(outcome.status)).bind(3, outcome.measured_utc).bind(4, outcome.duration_s);
  RL_TRY(save.bind(5, spec_text).bind(6, outcome_text).run());
  RL_TRY(impl_->run_for(kDropPairSamples, key));
  for (std::size_t block = 0; block < samples.size(); ++block) {
    RL_TRY_ASSIGN(auto save_samples, impl_->connection->prepare(kSavePairSamples));
    RL_TRY(save_samples.bind(1, key).bind(2, static_cast<std::int64_t>(block)).bind_blob(3, samples[block]).run());
  }
  return transaction.commit();
}

base::Result<void> Store::save_run(const schema::TuneRun& run) {
  if (run.id.empty()) return base::fail(base::ErrorCode::internal, "a run without an id cannot be stored");
  const auto record = dump_record(run);
  const auto model = model_name(run);
  RL_TRY_ASSIGN(auto transaction, impl_->connection->begin());
  RL_TRY_ASSIGN(auto save, impl_->connection->prepare(kSaveTuneRun));
  save.bind(1, run.id).bind(2, run.started_utc).bind(3, run.finished_utc).bind(4, kTuneCommand).bind(5, model);
  save.bind(6, run.provider).bind(7, run.device).bind(8, base::enum_name(run.objective));
  save.bind(9, static_cast<std::int64_t>(run.trials.size()));
  save.bind(10, run.verdict ? base::enum_name(run.verdict->decision) : std::string_view());
  if (run.verdict && run.verdict->gain)
    save.bind(11, run.verdict->gain->ratio);
  else
    save.bind_null(11);
  RL_TRY(save.bind(12, run.duration_s).run());
  RL_TRY_ASSIGN(auto save_record, impl_->connection->prepare(kSaveRunRecord));
  RL_TRY(save_record.bind(1, run.id).bind(2, record).run());
  return transaction.commit();
}

base::Result<std::string> Store::Impl::resolve(const std::string& id) const {
  using base::ErrorCode;
  const auto file = connection->path().string();
  if (id.empty())
    return base::fail(ErrorCode::invalid_argument,
                      "run id is empty, expected an id of `ridgeline history` or \"latest\"");
  if (id == "latest") {
    RL_TRY_ASSIGN(auto latest, ids(kLatestRun));
    if (latest.empty())
      return base::fail(ErrorCode::not_found, "database {} holds no runs yet: `ridgeline tune MODEL` makes one", file);
    return std::move(latest.front());
  }
  RL_TRY_ASSIGN(auto matches, ids(kMatchTuneRuns, &id));
  for (auto& match : matches)
    if (match == id) return std::move(match);
  if (matches.size() == 1) return std::move(matches.front());
  if (matches.size() > 1) {
    const bool more = matches.size() > 5;
    if (more) matches.pop_back();
    return base::fail(ErrorCode::invalid_argument, "run {} is ambiguous in {}: {}{}, give more digits", id, file,
                      fmt::join(matches, ", "), more ? ", ..." : "");
  }
  RL_TRY_ASSIGN(const auto all, ids(kRunIds));
  if (all.empty()) return base::fail(ErrorCode::not_found, "run {} is not in {}, which holds no runs yet", id, file);
  const auto hint = base::did_you_mean(id, all);
  return base::fail(
      ErrorCode::not_found, "run {} is not in {}{}", id, file,
      hint.empty() ? fmt::format(", the latest is {}: `ridgeline history` lists them", all.front()) : hint);
}

base::Result<schema::TuneRun> Store::load_run(const std::string& id) {
  RL_TRY_ASSIGN(const auto full, impl_->resolve(id));
  RL_TRY_ASSIGN(auto statement, impl_->connection->prepare(kLoadRunRecord));
  RL_TRY_ASSIGN(const bool found, statement.bind(1, full).step());
  const auto what = impl_->name("run", full);
  if (!found) return base::fail(base::ErrorCode::corrupt, "{} has no record", what);
  return read_record<schema::TuneRun>(statement.text(0), what);
}

base::Result<std::vector<RunSummary>> Store::list_runs(std::size_t limit) {
  if (!impl_->connection->is_there()) return std::vector<RunSummary>();
  RL_TRY_ASSIGN(auto statement, impl_->connection->prepare(kListTuneRuns));
  statement.bind(1, static_cast<std::int64_t>(std::min<std::size_t>(limit, INT64_MAX)));
  std::vector<RunSummary> out;
  while (true) {
    RL_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return out;
    RunSummary run;
    run.id = statement.text(0);
    run.started_utc = statement.text(1);
    run.finished = !statement.text(2).empty();
    run.command = statement.text(3);
    run.model = statement.text(4);
    run.provider = statement.text(5);
    run.device = statement.text(6);
    run.objective = statement.text(7);
    run.trials = static_cast<int>(statement.integer(8));
    run.decision = statement.text(9);
    if (!statement.is_null(10)) run.gain_ratio = statement.real(10);
    run.duration_s = statement.real(11);
    out.push_back(std::move(run));
  }
}

base::Result<std::size_t> Store::count_trials() {
  if (!impl_->connection->is_there()) return std::size_t{0};
  RL_TRY_ASSIGN(const auto count, impl_->connection->query_integer("SELECT count(*) FROM trials"));
  return static_cast<std::size_t>(count);
}

}  // namespace ridgeline::store
