// SPDX-License-Identifier: Apache-2.0
#include "store/bench_store.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "store/run_records.hpp"

namespace ridgeline::store {
namespace {

using base::ErrorCode;

constexpr std::string_view kSaveTrial =
    "INSERT INTO training_trials (key, status, measured_utc, duration_s, spec, outcome) VALUES (?1, ?2, ?3, ?4, ?5, "
    "?6) "
    "ON CONFLICT (key) DO UPDATE SET status = excluded.status, measured_utc = excluded.measured_utc, "
    "duration_s = excluded.duration_s, spec = excluded.spec, outcome = excluded.outcome";
constexpr std::string_view kFindTrial = "SELECT outcome FROM training_trials WHERE key = ?1";
constexpr std::string_view kSaveRun =
    "INSERT INTO bench_runs (id, started_utc, finished_utc, job, device, trials, recommended, samples_per_s, "
    "duration_s) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) "
    "ON CONFLICT (id) DO UPDATE SET started_utc = excluded.started_utc, finished_utc = excluded.finished_utc, "
    "job = excluded.job, device = excluded.device, trials = excluded.trials, recommended = excluded.recommended, "
    "samples_per_s = excluded.samples_per_s, duration_s = excluded.duration_s";
constexpr std::string_view kSaveRecord =
    "INSERT INTO bench_run_records (id, record) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET record = "
    "excluded.record";
constexpr std::string_view kListRuns =
    "SELECT id, started_utc, finished_utc, job, device, trials, recommended, samples_per_s, duration_s FROM bench_runs "
    "ORDER BY started_utc DESC, id DESC LIMIT ?1";
constexpr std::string_view kMatchRuns =
    "SELECT id FROM bench_runs WHERE ?1 = 'latest' OR substr(id, 1, length(?1)) = ?1 "
    "ORDER BY started_utc DESC, id DESC LIMIT 6";
constexpr std::string_view kLoadRecord = "SELECT record FROM bench_run_records WHERE id = ?1";

constexpr RunWords kWords{"training benchmark", "bench"};

}  // namespace

struct BenchStore::Impl {
  std::unique_ptr<Connection> connection;
};

BenchStore::BenchStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BenchStore::BenchStore(BenchStore&&) noexcept = default;
BenchStore& BenchStore::operator=(BenchStore&&) noexcept = default;
BenchStore::~BenchStore() = default;

base::Result<BenchStore> BenchStore::open(const std::filesystem::path& path, const StoreOptions& options) {
  auto impl = std::make_unique<Impl>();
  RL_TRY_ASSIGN(impl->connection, open_results(path, options));
  return BenchStore(std::move(impl));
}

base::Result<std::optional<schema::TrainingOutcome>> BenchStore::find_trial(const std::string& key) {
  return find_record<schema::TrainingOutcome>(*impl_->connection, kFindTrial, key, "training trial");
}

base::Result<void> BenchStore::save_trial(const schema::TrainingTrialSpec& spec,
                                          const schema::TrainingOutcome& outcome) {
  const auto key = spec.key();
  const auto spec_text = dump_record(spec);
  const auto outcome_text = dump_record(outcome);
  RL_TRY_ASSIGN(auto save, impl_->connection->prepare(kSaveTrial));
  save.bind(1, key).bind(2, base::enum_name(outcome.status)).bind(3, outcome.measured_utc).bind(4, outcome.duration_s);
  return save.bind(5, spec_text).bind(6, outcome_text).run();
}

base::Result<void> BenchStore::save_run(const schema::BenchRun& run) {
  if (run.id.empty()) return base::fail(ErrorCode::internal, "a run without an id cannot be stored");
  const auto record = dump_record(run);
  const auto job = run.job.kind + " " + run.job.target;
  const auto* answer = run.answers && run.answers->recommended ? &*run.answers->recommended : nullptr;
  const auto recommended = answer != nullptr ? schema::describe(answer->settings) : std::string();
  RL_TRY_ASSIGN(auto transaction, impl_->connection->begin());
  RL_TRY_ASSIGN(auto save, impl_->connection->prepare(kSaveRun));
  save.bind(1, run.id).bind(2, run.started_utc).bind(3, run.finished_utc).bind(4, job).bind(5, run.device);
  save.bind(6, static_cast<std::int64_t>(run.trials.size())).bind(7, recommended);
  if (answer != nullptr)
    save.bind(8, answer->samples_per_s);
  else
    save.bind_null(8);
  RL_TRY(save.bind(9, run.duration_s).run());
  RL_TRY_ASSIGN(auto save_record, impl_->connection->prepare(kSaveRecord));
  RL_TRY(save_record.bind(1, run.id).bind(2, record).run());
  return transaction.commit();
}

base::Result<schema::BenchRun> BenchStore::load_run(const std::string& id) {
  return load_run_record<schema::BenchRun>(*impl_->connection, kMatchRuns, kLoadRecord, id, kWords);
}

base::Result<std::vector<BenchRunSummary>> BenchStore::list_runs(std::size_t limit) {
  RL_TRY_ASSIGN(auto statement, impl_->connection->prepare(kListRuns));
  statement.bind(1, static_cast<std::int64_t>(limit));
  std::vector<BenchRunSummary> out;
  while (true) {
    RL_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return out;
    BenchRunSummary run;
    run.id = statement.text(0);
    run.started_utc = statement.text(1);
    run.finished = !statement.text(2).empty();
    run.job = statement.text(3);
    run.device = statement.text(4);
    run.trials = static_cast<int>(statement.integer(5));
    run.recommended = statement.text(6);
    if (!statement.is_null(7)) run.samples_per_s = statement.real(7);
    run.duration_s = statement.real(8);
    out.push_back(std::move(run));
  }
}

}  // namespace ridgeline::store
