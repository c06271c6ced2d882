// SPDX-License-Identifier: Apache-2.0
#include "analysis/bench_experiments.hpp"

#include <algorithm>

#include "analysis/bench_evidence.hpp"
#include "analysis/bench_variants.hpp"

namespace ridgeline::analysis {
namespace {

using schema::AmpMode;
using schema::DataMode;
using schema::TrainingSettings;

constexpr int kFirstWorkers = 4;       ///< tried in place of none
constexpr double kUsefulShare = 0.2;   ///< of the gain that is possible: what more workers have to bring
constexpr double kTwiceTheGain = 1.0;  ///< twice the workers cannot bring more

/// Whether steps wait for their batches for a share of their time that is worth a finding. Workers bring batches in
/// bursts, so that the median step may wait for none: what all steps took beyond the median's own work counts as well.
bool waits_for_batches(const BenchEvidence& known, const TrainingSettings& base) {
  const double waits_ms = known.phases.io_wait_ms.value;
  const double rest_ms = known.phases.wall_ms.value - waits_ms;
  const double mean_ms = base.batch * 1e3 / known.rate;
  return (base.workers > 0 ? std::max(waits_ms, mean_ms - rest_ms) : waits_ms) >= kWorthwhileGain * rest_ms;
}

}  // namespace

int more_workers(int workers, double cores) {
  if (workers > 0) return 2 * workers;
  return cores > 0 ? std::clamp(static_cast<int>(cores), 1, kFirstWorkers) : kFirstWorkers;
}

std::vector<BenchExperiment> plan_experiments(const TrainingSettings& base, bool on_cpu, double cores) {
  std::vector<BenchExperiment> out;
  out.push_back({base, DataMode::loader, "what is to be explained"});
  out.push_back({base, DataMode::host, "with data in memory: does the loader hold training up?"});
  if (!on_cpu && !base.pin_memory) out.push_back({with_pin(base), DataMode::loader, "with pinned memory"});
  const int more = more_workers(base.workers, cores);
  // Workers far beyond the cores only take memory.
  if (cores <= 0 || more <= 2 * cores || base.workers == 0)
    out.push_back({with_workers(base, more), DataMode::loader, "with more workers"});
  out.push_back({base, DataMode::loader_only, "the loader alone: do its workers work or wait?"});
  out.push_back({base, DataMode::device, "with data on the device: what the step itself takes"});
  const auto doubled = with_batch(base, base.batch * 2);
  out.push_back({doubled, DataMode::device, "twice the batch with data on the device: is the device filled?"});
  out.push_back({doubled, DataMode::loader, "twice the batch"});
  if (base.amp == AmpMode::off) out.push_back({with_amp(base), DataMode::loader, "with mixed precision"});
  if (base.workers >= 2)
    out.push_back(
        {with_workers(base, base.workers / 2), DataMode::loader, "with fewer workers: are the cores crowded?"});
  if (base.batch >= 2)
    out.push_back({with_batch(base, base.batch / 2), DataMode::loader, "half the batch: is memory too tight?"});
  return out;
}

std::optional<double> busy_workers(const BenchEvidence& loading, const TrainingSettings& base,
                                   const DiagnosisInput& input) {
  const auto& resources = loading.resources;
  if (resources.loader_read_s && resources.loader_decode_s && *resources.loader_read_s + *resources.loader_decode_s > 0)
    return *resources.loader_decode_s / (*resources.loader_read_s + *resources.loader_decode_s);
  if (!resources.loader_cpu_s || !resources.loader_wall_s || *resources.loader_wall_s <= 0) return std::nullopt;
  // Workers beyond the number of cores cannot all run: their CPU time is bounded by the cores'.
  const int workers = std::max(1, base.workers);
  const double cores = input.cores > 0 ? std::min<double>(workers, input.cores) : workers;
  return std::min(1.0, *resources.loader_cpu_s / (*resources.loader_wall_s * cores / workers));
}

std::optional<double> cpus_per_worker(const BenchEvidence& loading) noexcept {
  const auto& resources = loading.resources;
  if (!resources.loader_cpu_s || !resources.loader_wall_s || *resources.loader_wall_s <= 0) return std::nullopt;
  return *resources.loader_cpu_s / *resources.loader_wall_s;
}

LoaderVerdict judge_loader(const schema::BenchRun& run, const DiagnosisInput& input) {
  LoaderVerdict out;
  const auto& base = input.base;
  const auto known = find_evidence(run, base, DataMode::loader);
  const auto host = find_evidence(run, base, DataMode::host);
  if (!known || !host) return out;
  const bool waits = waits_for_batches(*known, base);
  // Without workers loading can cost no more than the time that steps wait.
  if (clearly_faster(*host, *known, kWorthwhileGain) && (waits || base.workers > 0))
    out.possible = host->rate / known->rate - 1;
  out.holds_up = waits && out.possible > 0;
  out.sets_pace = out.holds_up && base.workers > 0 && out.possible >= kPaceSetter;
  const auto more = find_evidence(run, with_workers(base, more_workers(base.workers, input.cores)), DataMode::loader);
  // A few per cent where twice the speed would be possible are the noise of a loader that something else limits.
  const double least = std::max(kWorthwhileGain, kUsefulShare * std::min(out.possible, kTwiceTheGain));
  // Workers that have all CPUs to themselves and use them: more of them get a larger share only of what others use.
  const bool all_busy =
      input.cores > 0 && base.workers >= input.cores && busy_workers(*known, base, input).value_or(0) >= kBusyWorkers;
  // A worker that computes wants one CPU. Threads of its own, beyond the CPUs that there are, stand in each other's
  // way.
  const auto each = cpus_per_worker(*known);
  if (out.possible > 0 && input.cores > 0 && base.workers > 0 && each.value_or(0) >= kThreadsEach &&
      *each * base.workers >= kOverCommitted * input.cores)
    out.threads_each = each;
  out.wants_more_workers =
      out.holds_up && !all_busy && !out.threads_each && more && clearly_faster(*more, *known, least);
  return out;
}

bool copies_take_time(const BenchEvidence& known) noexcept {
  return known.phases.h2d_ms.value >= kWorthwhileGain * known.phases.wall_ms.value;
}

bool can_matter(const BenchExperiment& experiment, const schema::BenchRun& run, const DiagnosisInput& input) {
  const auto& base = input.base;
  const auto known = find_evidence(run, base, DataMode::loader);
  if (!known) return experiment.settings == base && experiment.data == DataMode::loader;
  const bool host_known = find_evidence(run, base, DataMode::host).has_value();
  const auto loader = judge_loader(run, input);
  const bool other_workers = experiment.data == DataMode::loader && experiment.settings.workers != base.workers;
  if (other_workers || experiment.data == DataMode::loader_only) {
    if (host_known && loader.possible == 0) return false;
    // Too few of them: neither are they too many, nor is it asked what they do.
    const bool fewer = other_workers && experiment.settings.workers < base.workers;
    if (loader.threads_each && !fewer) return false;
    return !loader.wants_more_workers || !(fewer || experiment.data == DataMode::loader_only);
  }
  if (experiment.settings.pin_memory != base.pin_memory) return copies_take_time(*known);
  const bool larger = experiment.settings.batch > base.batch;
  if ((larger || experiment.settings.amp != base.amp) && loader.sets_pace) return false;
  if (larger && experiment.data == DataMode::loader) {
    const auto device = find_evidence(run, base, DataMode::device);
    const auto doubled = find_evidence(run, experiment.settings, DataMode::device);
    return !device || !doubled || doubled->rate >= device->rate * (1 + kFilledGain);
  }
  if (experiment.settings.batch < base.batch) return known->resources.alloc_retries.value_or(0) > 0;
  return true;
}

}  // namespace ridgeline::analysis
