// SPDX-License-Identifier: Apache-2.0
#include "store/bench_store.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "store/run_records.hpp"

namespace ridgeline::store {
namespace {

constexpr std::string_view kSaveBenchTrial =
    "INSERT INTO training_trials (key, status, measured_utc, duration_s, spec, outcome) VALUES (?1, ?2, ?3, ?4, ?5, "
    "?6) "
    "ON CONFLICT (key) DO UPDATE SET status = excluded.status, measured_utc = excluded.measured_utc, "
    "duration_s = excluded.duration_s, spec = excluded.spec, outcome = excluded.outcome";
constexpr std::string_view kFindBenchTrial = "SELECT outcome FROM training_trials WHERE key = ?1";
constexpr std::string_view kSaveBenchRun =
    "INSERT INTO bench_runs (id, started_utc, finished_utc, job, device, trials, recommended, samples_per_s, "
    "duration_s) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) "
    "ON CONFLICT (id) DO UPDATE SET started_utc = excluded.started_utc, finished_utc = excluded.finished_utc, "
    "job = excluded.job, device = excluded.device, trials = excluded.trials, recommended = excluded.recommended, "
    "samples_per_s = excluded.samples_per_s, duration_s = excluded.duration_s";
constexpr std::string_view kSaveBenchRecord =
    "INSERT INTO bench_run_records (id, record) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET record = "
    "excluded.record";
constexpr std::string_view kListBenchRuns =
    "SELECT id, started_utc, finished_utc, job, device, trials, recommended, samples_per_s, duration_s FROM bench_runs "
    "ORDER BY started_utc DESC, rowid DESC LIMIT ?1";
constexpr std::string_view kMatchBenchRuns =
    "SELECT id FROM bench_runs WHERE ?1 = 'latest' OR substr(id, 1, length(?1)) = ?1 "
    "ORDER BY started_utc DESC, rowid DESC LIMIT 6";
constexpr std::string_view kLoadBenchRecord = "SELECT record FROM bench_run_records WHERE id = ?1";

constexpr RunWords kBenchWords{"training benchmark", "bench"};

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
  if (!impl_->connection->is_there()) return std::nullopt;  // looking does not make the file
  return find_record<schema::TrainingOutcome>(*impl_->connection, kFindBenchTrial, key, "training trial");
}

base::Result<void> BenchStore::save_trial(const schema::TrainingTrialSpec& spec,
                                          const schema::TrainingOutcome& outcome) {
  const auto key = spec.key();
  const auto spec_text = dump_record(spec);
  const auto outcome_text = dump_record(outcome);
  RL_TRY_ASSIGN(auto save, impl_->connection->prepare(kSaveBenchTrial));
  save.bind(1, key).bind(2, base::enum_name(outcome.status)).bind(3, outcome.measured_utc).bind(4, outcome.duration_s);
  return save.bind(5, spec_text).bind(6, outcome_text).run();
}

base::Result<void> BenchStore::save_run(const schema::BenchRun& run) {
  RunRow row;
  row.id = run.id;
  row.started_utc = run.started_utc;
  row.finished_utc = run.finished_utc;
  row.subject = run.job.kind + " " + run.job.target;
  row.detail = run.device;
  row.trials = static_cast<int>(run.trials.size());
  row.duration_s = run.duration_s;
  if (run.answers && run.answers->recommended) {
    row.recommended = schema::describe(run.answers->recommended->settings);
    row.value = run.answers->recommended->samples_per_s;
  }
  return save_run_row(*impl_->connection, kSaveBenchRun, kSaveBenchRecord, row, dump_record(run));
}

base::Result<schema::BenchRun> BenchStore::load_run(const std::string& id) {
  return load_run_record<schema::BenchRun>(*impl_->connection, kMatchBenchRuns, kLoadBenchRecord, id, kBenchWords);
}

base::Result<std::vector<BenchRunSummary>> BenchStore::list_runs(std::size_t limit) {
  RL_TRY_ASSIGN(auto rows, list_run_rows(*impl_->connection, kListBenchRuns, limit));
  std::vector<BenchRunSummary> out;
  for (auto& row : rows)
    out.push_back({.id = std::move(row.id),
                   .started_utc = std::move(row.started_utc),
                   .job = std::move(row.subject),
                   .device = std::move(row.detail),
                   .trials = row.trials,
                   .recommended = std::move(row.recommended),
                   .samples_per_s = row.value,
                   .duration_s = row.duration_s,
                   .finished = !row.finished_utc.empty()});
  return out;
}

}  // namespace ridgeline::store
