// SPDX-License-Identifier: Apache-2.0
#include "analysis/bench_experiments.hpp"

#include <algorithm>

#include "analysis/bench_evidence.hpp"
#include "analysis/bench_variants.hpp"
#include "analysis/messages.hpp"

namespace ridgeline::analysis {
namespace {

using schema::AmpMode;
using schema::DataMode;
using schema::TrainingSettings;

constexpr double kUsefulShare = 0.2;   ///< of the gain that is possible: what more workers have to bring
constexpr double kTwiceTheGain = 1.0;  ///< twice the workers cannot bring more

bool was_made(const schema::BenchRun& run, const BenchExperiment& experiment) {
  return std::any_of(run.trials.begin(), run.trials.end(), [&](const auto& trial) {
    return trial.settings == experiment.settings && trial.data == experiment.data;
  });
}

/// A batch no larger has run out of memory under the same precision.
bool is_hopeless(const schema::BenchRun& run, const BenchExperiment& experiment) {
  return std::any_of(run.trials.begin(), run.trials.end(), [&](const auto& trial) {
    return trial.outcome.status == schema::TrialStatus::out_of_memory &&
           trial.settings.amp == experiment.settings.amp && trial.settings.batch <= experiment.settings.batch &&
           trial.settings.workers <= experiment.settings.workers;
  });
}

bool asks_the_loader(const BenchExperiment& experiment, const TrainingSettings& base) {
  return experiment.data == DataMode::loader_only || experiment.settings.workers != base.workers;
}

}  // namespace

schema::Message BenchExperiment::reason() const {
  return question.empty() ? name : messages::bench_experiment({.experiment = name, .question = question});
}

bool loads(const schema::TrainingJob& job) noexcept { return job.kind != "native" || !job.data_path.empty(); }

std::vector<BenchExperiment> plan_experiments(const TrainingSettings& base, bool on_cpu, double cores) {
  std::vector<BenchExperiment> out;
  const auto plan = [&](const TrainingSettings& settings, DataMode data, schema::Message name,
                        schema::Message question = {}) {
    out.push_back({settings, data, std::move(name), std::move(question), {}});
  };
  plan(base, DataMode::loader, messages::bench_as_it_is(), messages::bench_is_explained());
  plan(base, DataMode::host, messages::bench_data_in_memory(), messages::bench_does_loader_hold_up());
  if (!on_cpu && !base.pin_memory) plan(with_pin(base), DataMode::loader, messages::bench_memory_pinned());
  plan(with_workers(base, more_workers(base.workers, cores)), DataMode::loader, messages::bench_more_workers({}));
  plan(base, DataMode::loader_only, messages::bench_the_loader_alone(), messages::bench_do_workers_wait());
  plan(base, DataMode::device, messages::bench_data_on_device(false), messages::bench_what_step_takes());
  const auto doubled = with_batch(base, base.batch * 2);
  plan(doubled, DataMode::device, messages::bench_data_on_device(true), messages::bench_is_device_filled());
  plan(doubled, DataMode::loader, messages::bench_twice_the_batch());
  if (base.amp == AmpMode::off) plan(with_amp(base), DataMode::loader, messages::bench_mixed_precision());
  if (base.workers >= 2)
    plan(with_workers(base, base.workers / 2), DataMode::loader, messages::bench_fewer_workers(),
         messages::bench_are_cores_crowded());
  if (base.batch >= 2)
    plan(with_batch(base, base.batch / 2), DataMode::loader, messages::bench_half_the_batch(),
         messages::bench_is_memory_tight());
  return out;
}

std::vector<BenchExperiment> open_experiments(const schema::BenchRun& run, const DiagnosisInput& input) {
  auto planned = plan_experiments(input.base, input.on_cpu, input.cores);
  // Rungs above the first come right after it.
  if (const auto next = judge_loader(run, input).ladder.next;
      next && *next != more_workers(input.base.workers, input.cores)) {
    const auto first = std::find_if(planned.begin(), planned.end(),
                                    [&](const auto& one) { return one.settings.workers > input.base.workers; });
    planned.insert(first, {with_workers(input.base, *next),
                           DataMode::loader,
                           messages::bench_more_workers(*next),
                           messages::bench_last_doubling_helped(),
                           {}});
  }
  std::vector<BenchExperiment> out;
  for (auto& one : planned) {
    if (was_made(run, one) || (!loads(run.request.job) && asks_the_loader(one, input.base))) continue;
    if (!can_matter(one, run, input)) continue;
    if (is_hopeless(run, one)) one.obstacle = messages::bench_smaller_batch_ran_out();
    out.push_back(std::move(one));
  }
  return out;
}

schema::Message not_tried(const schema::BenchRun& run, const DiagnosisInput& input) {
  std::vector<schema::Message> possible;
  std::vector<schema::Message> hopeless;
  schema::Message obstacle;
  for (auto& one : open_experiments(run, input)) {
    (one.obstacle.empty() ? possible : hopeless).push_back(std::move(one.name));
    if (!one.obstacle.empty()) obstacle = std::move(one.obstacle);
  }
  std::vector<schema::Message> groups;
  if (!possible.empty())
    groups.push_back(messages::bench_untried_for({.experiments = possible, .why = input.stopped_by}));
  if (!hopeless.empty()) groups.push_back(messages::bench_untried_for({.experiments = hopeless, .why = obstacle}));
  if (groups.empty()) return {};
  return messages::bench_untried({.settings = schema::describe(input.base, run.device), .groups = groups});
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
  if (!known || !host) {
    out.ladder = climb_workers(run, input, kWorthwhileGain);
    return out;
  }
  const bool waits = waits_for_batches(*known, base);
  // Without workers loading can cost no more than the time that steps wait.
  if (clearly_faster(*host, *known, kWorthwhileGain) && (waits || base.workers > 0))
    out.possible = host->rate / known->rate - 1;
  out.holds_up = waits && out.possible > 0;
  out.sets_pace = out.holds_up && base.workers > 0 && out.possible >= kPaceSetter;
  // A few per cent where twice the speed would be possible are the noise of a loader that something else limits.
  const double least = std::max(kWorthwhileGain, kUsefulShare * std::min(out.possible, kTwiceTheGain));
  out.ladder = climb_workers(run, input, least);
  // Workers that have all CPUs to themselves and use them: more of them get a larger share only of what others use.
  const bool all_busy =
      input.cores > 0 && base.workers >= input.cores && busy_workers(*known, base, input).value_or(0) >= kBusyWorkers;
  // A worker that computes wants one CPU. Threads of its own, beyond the CPUs that there are, stand in each other's
  // way.
  const auto each = cpus_per_worker(*known);
  if (out.possible > 0 && input.cores > 0 && base.workers > 0 && each.value_or(0) >= kThreadsEach &&
      *each * base.workers >= kOverCommitted * input.cores)
    out.threads_each = each;
  out.wants_more_workers = out.holds_up && !all_busy && !out.threads_each && !out.ladder.climbed.empty();
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
    if (other_workers && !fewer) return loader.ladder.next == experiment.settings.workers;
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
