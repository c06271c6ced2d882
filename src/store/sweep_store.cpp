// SPDX-License-Identifier: Apache-2.0
#include "store/sweep_store.hpp"

#include <utility>

#include <fmt/format.h>

#include "store/run_records.hpp"

namespace ridgeline::store {
namespace {

constexpr std::string_view kSaveSweepTrial =
    "INSERT INTO sweep_trials (key, status, measured_utc, duration_s, command, point, outcome) VALUES (?1, ?2, ?3, ?4, "
    "?5, ?6, ?7) ON CONFLICT (key) DO UPDATE SET status = excluded.status, measured_utc = excluded.measured_utc, "
    "duration_s = excluded.duration_s, command = excluded.command, point = excluded.point, outcome = excluded.outcome";
constexpr std::string_view kFindSweepTrial = "SELECT outcome FROM sweep_trials WHERE key = ?1";
constexpr std::string_view kSaveSweepRun =
    "INSERT INTO sweep_runs (id, started_utc, finished_utc, command, objective, trials, recommended, value, "
    "duration_s) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id) DO UPDATE SET started_utc = excluded.started_utc, "
    "finished_utc = excluded.finished_utc, command = excluded.command, objective = excluded.objective, trials = "
    "excluded.trials, recommended = excluded.recommended, value = excluded.value, duration_s = excluded.duration_s";
constexpr std::string_view kSaveSweepRecord =
    "INSERT INTO sweep_run_records (id, record) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET record = "
    "excluded.record";
constexpr std::string_view kListSweepRuns =
    "SELECT id, started_utc, finished_utc, command, objective, trials, recommended, value, duration_s FROM sweep_runs "
    "ORDER BY started_utc DESC, rowid DESC LIMIT ?1";
constexpr std::string_view kMatchSweepRuns =
    "SELECT id FROM sweep_runs WHERE ?1 = 'latest' OR substr(id, 1, length(?1)) = ?1 "
    "ORDER BY started_utc DESC, rowid DESC LIMIT 6";
constexpr std::string_view kLoadSweepRecord = "SELECT record FROM sweep_run_records WHERE id = ?1";

constexpr RunWords kSweepWords{"sweep", "sweep"};

const schema::SweepSummary* recommended_of(const schema::SweepRun& run) {
  if (!run.answers) return nullptr;
  for (const auto& point : run.points)
    if (point.point == run.answers->recommended) return &point;
  return nullptr;
}

}  // namespace

struct SweepStore::Impl {
  std::unique_ptr<Connection> connection;
};

SweepStore::SweepStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SweepStore::SweepStore(SweepStore&&) noexcept = default;
SweepStore& SweepStore::operator=(SweepStore&&) noexcept = default;
SweepStore::~SweepStore() = default;

base::Result<SweepStore> SweepStore::open(const std::filesystem::path& path, const StoreOptions& options) {
  auto impl = std::make_unique<Impl>();
  RL_TRY_ASSIGN(impl->connection, open_results(path, options));
  return SweepStore(std::move(impl));
}

base::Result<std::optional<schema::SweepOutcome>> SweepStore::find_trial(const std::string& key) {
  return find_record<schema::SweepOutcome>(*impl_->connection, kFindSweepTrial, key, "sweep trial");
}

base::Result<void> SweepStore::save_trial(const schema::SweepTrialSpec& spec, const schema::SweepOutcome& outcome) {
  const auto key = spec.key();
  const auto command = dump_record(spec.job.command);
  const auto point = dump_record(spec.point);
  const auto text = dump_record(outcome);
  RL_TRY_ASSIGN(auto save, impl_->connection->prepare(kSaveSweepTrial));
  save.bind(1, key).bind(2, base::enum_name(outcome.status)).bind(3, outcome.measured_utc).bind(4, outcome.duration_s);
  return save.bind(5, command).bind(6, point).bind(7, text).run();
}

base::Result<void> SweepStore::save_run(const schema::SweepRun& run) {
  RunRow row;
  row.id = run.id;
  row.started_utc = run.started_utc;
  row.finished_utc = run.finished_utc;
  row.subject = fmt::format("{}", fmt::join(run.job.command, " "));
  row.detail = run.objective.to_text();
  row.trials = static_cast<int>(run.trials.size());
  row.duration_s = run.duration_s;
  if (const auto* answer = recommended_of(run); answer != nullptr) {
    row.recommended = schema::point_text(answer->point, run.job.parameters);
    row.value = answer->objective.value;
  }
  return save_run_row(*impl_->connection, kSaveSweepRun, kSaveSweepRecord, row, dump_record(run));
}

base::Result<schema::SweepRun> SweepStore::load_run(const std::string& id) {
  return load_run_record<schema::SweepRun>(*impl_->connection, kMatchSweepRuns, kLoadSweepRecord, id, kSweepWords);
}

base::Result<std::vector<SweepRunSummary>> SweepStore::list_runs(std::size_t limit) {
  RL_TRY_ASSIGN(auto rows, list_run_rows(*impl_->connection, kListSweepRuns, limit));
  std::vector<SweepRunSummary> out;
  for (auto& row : rows)
    out.push_back({.id = std::move(row.id),
                   .started_utc = std::move(row.started_utc),
                   .command = std::move(row.subject),
                   .objective = std::move(row.detail),
                   .trials = row.trials,
                   .recommended = std::move(row.recommended),
                   .value = row.value,
                   .duration_s = row.duration_s,
                   .finished = !row.finished_utc.empty()});
  return out;
}

}  // namespace ridgeline::store
