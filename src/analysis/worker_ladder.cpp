// SPDX-License-Identifier: Apache-2.0
#include "analysis/worker_ladder.hpp"

#include <algorithm>

#include "analysis/bench_experiments.hpp"
#include "analysis/bench_variants.hpp"
#include "analysis/messages.hpp"

namespace ridgeline::analysis {
namespace {

constexpr int kFirstWorkers = 4;      ///< tried in place of none
constexpr double kMemoryShare = 0.9;  ///< of what the host has left, that further workers may take

bool was_tried(const schema::BenchRun& run, const schema::TrainingSettings& settings) {
  return std::any_of(run.trials.begin(), run.trials.end(), [&](const auto& trial) {
    return trial.settings == settings && trial.data == schema::DataMode::loader;
  });
}

/// Why `workers` are not tried after what `from` workers gave; empty: they may be.
schema::Message refusal(const DiagnosisInput& input, int from, const BenchEvidence& seen, int workers, bool first) {
  if (workers > kMostTriedWorkers) return messages::bench_most_workers(kMostTriedWorkers);
  const auto& resources = seen.resources;
  if (from > 0 && resources.loader_memory_gb && resources.host_available_gb) {
    const double more_gb = *resources.loader_memory_gb * (static_cast<double>(workers) / from - 1);
    if (more_gb > kMemoryShare * *resources.host_available_gb)
      return messages::bench_no_host_memory(
          {.workers = workers, .more_gb = more_gb, .left_gb = *resources.host_available_gb});
  }
  if (first && (input.cores <= 0 || workers <= 2 * input.cores || from == 0)) return {};
  const auto busy = busy_workers(seen, with_workers(input.base, from), input);
  if (!busy) return messages::bench_workers_unknown();
  if (*busy >= kBusyWorkers) return messages::bench_workers_compute({.workers = from, .busy = *busy});
  return {};
}

}  // namespace

int more_workers(int workers, double cores) {
  if (workers > 0) return 2 * workers;
  return cores > 0 ? std::clamp(static_cast<int>(cores), 1, kFirstWorkers) : kFirstWorkers;
}

bool waits_for_batches(const BenchEvidence& known, const schema::TrainingSettings& settings) {
  const double waits_ms = known.phases.io_wait_ms.value;
  const double rest_ms = known.phases.wall_ms.value - waits_ms;
  const double mean_ms = static_cast<double>(settings.batch) * 1e3 / known.rate;
  return (settings.workers > 0 ? std::max(waits_ms, mean_ms - rest_ms) : waits_ms) >= kWorthwhileGain * rest_ms;
}

WorkerLadder climb_workers(const schema::BenchRun& run, const DiagnosisInput& input, double least) {
  WorkerLadder out;
  auto below = find_evidence(run, input.base, schema::DataMode::loader);
  if (!below) return out;
  int workers = input.base.workers;
  while (true) {
    const bool first = out.climbed.empty();
    const int more = more_workers(workers, input.cores);
    const auto settings = with_workers(input.base, more);
    auto seen = find_evidence(run, settings, schema::DataMode::loader);
    if (!seen) {
      out.end = was_tried(run, settings) ? messages::bench_workers_failed(more)
                                         : refusal(input, workers, *below, more, first);
      if (out.end.empty()) out.next = more;
      return out;
    }
    if (!clearly_faster(*seen, *below, least)) {
      out.end = messages::bench_workers_brought({.workers = more, .gain = seen->rate / below->rate - 1});
      out.stopped = WorkerRung{more, std::move(*seen)};
      return out;
    }
    out.climbed.push_back({more, *seen});
    if (!waits_for_batches(*seen, settings)) {
      out.end = messages::bench_workers_suffice(more);
      return out;
    }
    workers = more;
    below = std::move(seen);
  }
}

}  // namespace ridgeline::analysis
