// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "analysis/bench_evidence.hpp"
#include "analysis/worker_ladder.hpp"
#include "schema/training_run.hpp"

namespace ridgeline::analysis {

/// A trial that the diagnosis of `base` needs.
struct BenchExperiment {
  schema::TrainingSettings settings;
  schema::DataMode data = schema::DataMode::loader;
  schema::Message name;      ///< "with more workers"
  schema::Message question;  ///< that it answers; empty: what the name says
  schema::Message obstacle;  ///< why it cannot be made; empty: it can
  [[nodiscard]] schema::Message reason() const;
};

struct DiagnosisInput {
  schema::TrainingSettings base;  ///< what is explained: the recommended or the current settings
  bool on_cpu = false;
  double cores = 0;            ///< 0: not known
  schema::Message stopped_by;  ///< what ended the experiments before they were all made: --max-time was used up
};

constexpr double kWorthwhileGain = 0.05;  ///< causes worth less are not reported
constexpr double kThreadsEach = 1.5;      ///< CPUs that a worker wants, from which it runs threads of its own
constexpr double kOverCommitted = 1.5;    ///< CPUs that all workers want, by those there are, from which threads queue
constexpr double kUsedWorkers = 0.85;     ///< of the workers' time, below which more of them have no use
constexpr double kBusyWorkers = 0.60;     ///< of the workers' time, from which decoding is what they do
constexpr double kPaceSetter = 0.5;       ///< gain by data in memory from which the loader sets the pace
constexpr double kFilledGain = 0.10;      ///< of twice the batch with data on the device: less means it is filled

/// Share of the workers' time that is work and not waiting: the loader's own count, else their CPU time.
[[nodiscard]] std::optional<double> busy_workers(const BenchEvidence& loading, const schema::TrainingSettings& base,
                                                 const DiagnosisInput& input);

/// CPUs that each worker used or stood in line for: about 1 of one that computes, more where it runs threads.
[[nodiscard]] std::optional<double> cpus_per_worker(const BenchEvidence& loading) noexcept;

/// The loader's share in a run's trials under `base`.
struct LoaderVerdict {
  double possible =
      0;  ///< gain by data in memory; 0 where that is not clearly faster, or nothing runs beside the steps
  bool holds_up = false;   ///< ... and the steps wait for their batches
  bool sets_pace = false;  ///< so much faster, and loading goes on beside the steps, that a faster step brings nothing
  bool wants_more_workers = false;
  WorkerLadder ladder;
  std::optional<double>
      threads_each;  ///< CPUs that each worker wants, where together they want far more than there are
};
/// Without the base trial or that with data in memory nothing is known: all false.
[[nodiscard]] LoaderVerdict judge_loader(const schema::BenchRun& run, const DiagnosisInput& input);

/// Whether copying the batch takes a share of the steps that is worth a finding. True where no phases were measured.
[[nodiscard]] bool copies_take_time(const BenchEvidence& known) noexcept;

/// What to run so that diagnose_bench can tell every cause apart: data in host memory, data on the device, twice the
/// workers, half the workers, twice and half the batch, the other pinning, AMP, the loader alone. `cores`: usable by
/// the process. The order is by usefulness, for a run whose time is short.
[[nodiscard]] std::vector<BenchExperiment> plan_experiments(const schema::TrainingSettings& base, bool on_cpu,
                                                            double cores);

/// Of these, and of further numbers of workers, what the run has not made and what can still matter, the most useful
/// first. One that has an obstacle is not to be made, and is not tried.
[[nodiscard]] std::vector<BenchExperiment> open_experiments(const schema::BenchRun& run, const DiagnosisInput& input);

/// A note for what is still open, empty where nothing is: "not tried under batch 64, ...: with more workers, twice the
/// batch (--max-time was used up)".
[[nodiscard]] schema::Message not_tried(const schema::BenchRun& run, const DiagnosisInput& input);

/// Whether a loader brings the data; the native way's random data are made once.
[[nodiscard]] bool loads(const schema::TrainingJob& job) noexcept;

/// Whether the outcome of the experiment can change what diagnose_bench says, after the trials that the run has made:
/// with data in memory no faster, the loader's experiments cannot; where the workers' threads crowd the CPUs, more of
/// them cannot; where the loader sets the pace, a faster step cannot; without the allocator's retries, half the batch
/// cannot; where copies take no time, pinned memory cannot.
[[nodiscard]] bool can_matter(const BenchExperiment& experiment, const schema::BenchRun& run,
                              const DiagnosisInput& input);

}  // namespace ridgeline::analysis
