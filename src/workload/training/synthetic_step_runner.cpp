// SPDX-License-Identifier: Apache-2.0
#include "workload/training/synthetic_step_runner.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace ridgeline::workload {
namespace {

using schema::DataMode;

constexpr double kHandoffMs = 0.05;   ///< taking a ready batch out of the queue
constexpr double kTightShare = 0.93;  ///< of the memory: above it the allocator has to retry
constexpr double kDriftPeriodS = 60;
constexpr int kPrefetch = 2;  ///< batches a worker has ready when the first step begins

/// By the workers with their threads, and the training thread.
double wanted_cores(const SyntheticStepOptions& options, int workers) { return workers * (1 + options.threads) + 1; }

/// How much longer a step takes when workers crowd the cores out.
double crowding(const SyntheticStepOptions& options, int workers) {
  return 1 + options.over * std::max(0.0, wanted_cores(options, workers) - options.cores) / options.cores;
}

/// Samples/s of the loader; workers > 0.
double loader_rate(const SyntheticStepOptions& options, int workers) {
  const double slow = std::max(1.0, wanted_cores(options, workers) / options.cores);
  const double rate = workers * 1e6 / (options.read_us + options.decode_us * slow);
  return options.storage_rate > 0 ? std::min(rate, options.storage_rate) : rate;
}

double device_ms(const SyntheticStepOptions& options, const schema::TrainingSettings& settings) {
  const double speed = settings.amp == schema::AmpMode::off ? 1 : options.amp_gain;
  return options.compute_us * (static_cast<double>(settings.batch) + options.fill) / 1000 / speed;
}

bool is_tight(const SyntheticStepOptions& options, const schema::TrainingSettings& settings, DataMode data) {
  return synthetic_memory_gb(options, settings, data) > kTightShare * options.memory_gb;
}

}  // namespace

double synthetic_memory_gb(const SyntheticStepOptions& options, const schema::TrainingSettings& settings,
                           DataMode data) {
  if (data == DataMode::loader_only) return 0.3;
  const double share = settings.amp == schema::AmpMode::off ? 1 : options.amp_memory;
  return options.model_gb + static_cast<double>(settings.batch) * options.sample_gb * share;
}

schema::StepPhases synthetic_phases(const SyntheticStepOptions& options, const schema::TrainingSettings& settings,
                                    DataMode data, bool on_cpu) {
  schema::StepPhases step;
  const auto batch = static_cast<double>(settings.batch);
  const bool loads = data == DataMode::loader || data == DataMode::loader_only;
  const double crowd = loads ? crowding(options, settings.workers) : 1;
  if (data != DataMode::loader_only) {
    double compute = std::max(device_ms(options, settings), options.launch_ms) * crowd;
    // On a CPU the workers' decoding takes its share of the cores that the step computes on.
    if (on_cpu && loads && settings.workers > 0) compute += batch * options.decode_us / 1000 / options.cores;
    if (is_tight(options, settings, data)) compute *= 1 + options.thrash;
    step.forward_ms = compute / 3 + options.wait_ms;
    step.backward_ms = compute * 2 / 3;
    step.optimizer_ms = options.optimizer_ms * crowd;
    if (!on_cpu && data != DataMode::device)
      step.h2d_ms =
          batch * options.sample_kb * 1e-3 / (settings.pin_memory ? options.pinned_gb_s : options.pageable_gb_s);
  }
  step.rest_ms = options.rest_ms;
  const double busy = step.sum_ms();
  if (loads) {
    if (settings.workers == 0) {
      const double storage_us = options.storage_rate > 0 ? 1e6 / options.storage_rate : 0;
      step.io_wait_ms = batch * (std::max(options.read_us, storage_us) + options.decode_us) / 1000;
    } else {
      const double load_ms =
          batch / loader_rate(options, settings.workers) * 1000 + options.batch_us * settings.workers / 1000;
      step.io_wait_ms = data == DataMode::loader_only ? load_ms : std::max(0.0, load_ms - busy) + kHandoffMs;
    }
  }
  step.wall_ms = step.sum_ms();
  return step;
}

StepResult<void> SyntheticStepRunner::show_fault(schema::TrialPhase phase) const {
  for (const auto& fault : options_.faults) {
    if (fault.phase != phase || !fault.meets(spec_.settings, spec_.data)) continue;
    for (const auto& [kind, facts] : step_fault_kinds())
      if (kind == fault.kind) return tl::unexpected(judge_failure(facts));
  }
  return {};
}

StepResult<void> SyntheticStepRunner::prepare(const schema::TrainingTrialSpec& spec) {
  spec_ = spec;
  on_cpu_ = schema::is_cpu_device(spec.device);
  // The noise of a trial depends on everything that identifies it, so that repeats are draws of their own.
  std::uint64_t seed = static_cast<std::uint64_t>(options_.seed) * 0x9E3779B97F4A7C15ULL;
  for (const char digit : spec.key().substr(0, 16)) seed = seed * 31 + static_cast<std::uint64_t>(digit);
  random_ = base::Random(seed);
  clock_->sleep_for(base::from_seconds((options_.startup_ms + options_.worker_ms * spec.settings.workers) * 1e-3));
  return show_fault(schema::TrialPhase::create_session);
}

schema::StepPhases SyntheticStepRunner::next_step() {
  auto step = synthetic_phases(options_, spec_.settings, spec_.data, on_cpu_);
  const bool loads = spec_.data == DataMode::loader || spec_.data == DataMode::loader_only;
  // Workers filled the queue while the model was built; batches of it cost nothing.
  if (loads && steps_ < kPrefetch * spec_.settings.workers) step.io_wait_ms = kHandoffMs;
  const auto number = static_cast<double>(steps_);
  double factor = std::exp(options_.noise * random_.normal() - options_.noise * options_.noise / 2);
  if (options_.warmup > 0)
    factor *= 1 + 3 * std::exp(-3 * number / options_.warmup) * (number < options_.warmup ? 1 : 0);
  factor *= 1 + options_.drift * std::sin(2 * std::numbers::pi * base::to_seconds(clock_->now()) / kDriftPeriodS);
  for (auto* phase :
       {&step.io_wait_ms, &step.h2d_ms, &step.forward_ms, &step.backward_ms, &step.optimizer_ms, &step.rest_ms})
    *phase *= factor;
  step.wall_ms = step.sum_ms();
  ++steps_;
  return step;
}

StepResult<StepWindow> SyntheticStepRunner::run(std::int64_t steps) {
  if (synthetic_memory_gb(options_, spec_.settings, spec_.data) > options_.memory_gb) {
    for (const auto& [kind, facts] : step_fault_kinds())
      if (kind == "oom_forward") return tl::unexpected(judge_failure(facts));
  }
  if (auto fault = show_fault(timed_ ? schema::TrialPhase::measure : schema::TrialPhase::warmup); !fault)
    return tl::unexpected(std::move(fault).error());
  StepWindow window;
  for (std::int64_t i = 0; i < steps; ++i) {
    window.steps.push_back(next_step());
    window.wall_ms += window.steps.back().wall_ms;
    clock_->sleep_for(base::from_seconds(window.steps.back().wall_ms * 1e-3));
  }
  counted_ += steps;
  counted_ms_ += window.wall_ms;
  return window;
}

StepResult<void> SyntheticStepRunner::reset_peaks() {
  counted_ = 0;
  counted_ms_ = 0;
  timed_ = true;
  return {};
}

StepResult<schema::TrainingResources> SyntheticStepRunner::resources() {
  schema::TrainingResources out;
  const auto& settings = spec_.settings;
  const double taken = synthetic_memory_gb(options_, settings, spec_.data);
  const auto samples = static_cast<double>(counted_ * settings.batch);
  out.peak_reserved_gb = taken;
  out.peak_allocated_gb = taken * 0.92;
  out.device_capacity_gb = options_.memory_gb;
  if (!on_cpu_) {
    out.alloc_retries = is_tight(options_, settings, spec_.data) ? counted_ : 0;
    out.num_ooms = 0;
    const double wall = counted_ms_ / std::max<double>(1, static_cast<double>(counted_));
    const double kernels =
        spec_.data == DataMode::loader_only ? 0 : device_ms(options_, settings) + options_.optimizer_ms;
    if (wall > 0) out.gpu_busy = std::min(1.0, kernels / wall);
  }
  if (spec_.data == DataMode::loader || spec_.data == DataMode::loader_only) {
    // Standing in line for a core counts as the real thing counts it, so that a thread that never rests wants one.
    out.loader_cpu_s = samples * options_.decode_us * 1e-6 + options_.threads * settings.workers * counted_ms_ * 1e-3;
    out.loader_wall_s = counted_ms_ * 1e-3 * std::max(1, settings.workers);
    if (options_.loader_stats > 0) {
      const double storage_us =
          options_.storage_rate > 0 ? 1e6 / options_.storage_rate * std::max(1, settings.workers) : 0;
      out.loader_read_s = samples * std::max(options_.read_us, storage_us - options_.decode_us) * 1e-6;
      out.loader_decode_s = samples * options_.decode_us * 1e-6;
    }
  }
  if (spec_.data == DataMode::host || spec_.data == DataMode::device) {
    out.step_wall_s = counted_ms_ * 1e-3;
    out.step_cpu_s = std::max(0.0, counted_ms_ - static_cast<double>(counted_) * options_.wait_ms) * 1e-3;
    out.step_others_cpu_s = 0;
  }
  out.last_loss = 1.0;
  return out;
}

StepRunnerFactory make_synthetic_steps(std::shared_ptr<const VirtualClock> clock) {
  return
      [clock = std::move(clock)](const schema::TrainingTrialSpec& spec) -> base::Result<std::unique_ptr<StepRunner>> {
        RL_TRY_ASSIGN(auto options, parse_step_options(spec.job.target));
        return std::unique_ptr<StepRunner>(std::make_unique<SyntheticStepRunner>(std::move(options), clock));
      };
}

}  // namespace ridgeline::workload
