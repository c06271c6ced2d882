// SPDX-License-Identifier: Apache-2.0
#include "execute/training_jobs.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "execute/messages.hpp"
#include "gpu/busy_watch.hpp"
#include "gpu/telemetry_sampler.hpp"
#include "measure/training_session.hpp"
#include "schema/messages.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using schema::TrialStatus;

TrialStatus training_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::out_of_memory: return TrialStatus::out_of_memory;
    case ErrorCode::timeout: return TrialStatus::timeout;
    case ErrorCode::crashed: return TrialStatus::crashed;
    case ErrorCode::unsupported: return TrialStatus::unsupported;
    case ErrorCode::invalid_argument: return TrialStatus::invalid;
    default: return TrialStatus::failed;
  }
}

/// No other settings would fix these.
bool ends_run(ErrorCode code) {
  return code == ErrorCode::cancelled || code == ErrorCode::not_found || code == ErrorCode::unavailable;
}

class TrainingJobs {
 public:
  explicit TrainingJobs(TrainingOptions options) : options_(std::move(options)) {
    if (options_.gpu_uuid.empty()) return;
    // A GPU that cannot be watched is measured all the same: its own columns stay empty.
    auto api = gpu::NvmlApi::load(options_.nvml.empty() ? gpu::NvmlApi::default_candidates() : options_.nvml);
    if (!api) return;
    api_ = std::move(*api);
    const auto device = api_->device_by_uuid(options_.gpu_uuid);
    if (!device) return;
    if (auto gpm = gpu::GpmReader::open(api_, *device))
      gpm_.emplace(std::move(*gpm));
    else
      gpm_problem_ = std::move(gpm).error().message;
  }

  base::Result<schema::TrainingOutcome> run(const schema::TrainingTrialSpec& spec) {
    const auto begin = clock().now();
    schema::TrainingOutcome outcome;
    outcome.measured_utc = clock().utc_now();
    RL_TRY_ASSIGN(const auto runner, options_.factory(spec));
    measure::TrainingControl control;
    control.cancelled = options_.cancelled;
    control.progress = [&](schema::TrialPhase phase, std::int64_t steps) {
      if (options_.on_progress) options_.on_progress({phase, steps, base::to_seconds(clock().now() - begin), 0, 0, {}});
    };
    std::optional<gpu::BusyWatch> busy;
    watch_anew();
    if (sampler_) {
      sampler_->begin_trial();
      control.watch = sampler_.get();
      if (gpm_) control.watch = &busy.emplace(*sampler_, *gpm_, gpu::BusyWatch::Before::same_work);
    }
    auto result = measure::measure_training(*runner, spec, control);
    runner->close();
    if (sampler_) {
      const auto telemetry = sampler_->end_trial();
      if (result) {
        add_telemetry(telemetry, *result);
        add_busy(busy ? busy->busy() : std::nullopt, *result);
      }
    }
    outcome.duration_s = base::to_seconds(clock().now() - begin);
    if (result) {
      outcome.measurement = std::move(*result);
      return outcome;
    }
    auto& error = result.error().error;
    if (ends_run(error.error.code)) return tl::unexpected<base::Error>(std::move(error.error));
    outcome.status = training_status(error.error.code);
    outcome.oom_evidence = error.oom;
    schema::Failure failure;
    failure.phase = result.error().phase;
    failure.message = schema::messages::reported_error(
        {.words = std::move(error.error.message), .hint = std::move(error.error.hint)});
    failure.exit_code = error.exit_code;
    failure.signal = error.signal;
    failure.stderr_tail = std::move(error.output_tail);
    outcome.failure = std::move(failure);
    return outcome;
  }

 private:
  [[nodiscard]] const base::Clock& clock() const noexcept {
    return options_.clock ? *options_.clock : base::system_clock();
  }
  /// A sampler takes the first process that comes to the GPU for the trial's: it has to begin before that.
  void watch_anew() {
    if (!api_ || (sampler_ && options_.process_waits && options_.process_waits())) return;
    sampler_.reset();
    if (auto sampler = gpu::TelemetrySampler::make(api_, options_.gpu_uuid)) sampler_ = std::move(*sampler);
  }

  void add_busy(const std::optional<double>& by_gpm, schema::TrainingMeasurement& measurement) const {
    auto& resources = measurement.resources;
    if (resources.gpu_busy) return;
    if (by_gpm) {
      resources.gpu_busy = by_gpm;
      measurement.flags.push_back({schema::FlagLevel::info, "gpu_busy_gpm", messages::busy_by_gpm()});
    } else if (resources.gpu_util) {
      measurement.flags.push_back(
          {schema::FlagLevel::info, "gpu_busy_nvml", messages::busy_by_nvml(gpm_ ? std::string() : gpm_problem_)});
    }
  }

  static void add_telemetry(const schema::GpuTelemetry& telemetry, schema::TrainingMeasurement& measurement) {
    double sum = 0;
    int count = 0;
    for (const auto& sample : telemetry.samples) {
      if (!sample.utilization_percent || sample.at_s < telemetry.timed_from_s || sample.at_s > telemetry.timed_to_s)
        continue;
      sum += *sample.utilization_percent / 100;
      ++count;
    }
    if (count > 0) measurement.resources.gpu_util = sum / count;
    // The trial's own process comes to the GPU only after the record began: whoever was there before is somebody else.
    if (!telemetry.neighbours_before.empty())
      measurement.flags.push_back({schema::FlagLevel::notice, "gpu_shared", messages::gpu_was_shared()});
  }

  TrainingOptions options_;
  std::shared_ptr<const gpu::NvmlApi> api_;
  std::optional<gpu::GpmReader> gpm_;
  std::string gpm_problem_;
  std::unique_ptr<gpu::TelemetrySampler> sampler_;
};

}  // namespace

void add_training_jobs(LocalTransport& transport, TrainingOptions options) {
  const auto trainer = std::make_shared<TrainingJobs>(std::move(options));
  transport.add(job_kind::kTrainingTrial, [trainer](const Job& job) -> base::Result<JobAnswer> {
    RL_TRY_ASSIGN(const auto spec, base::json_as<schema::TrainingTrialSpec>(job.request, "job"));
    RL_TRY_ASSIGN(const auto outcome, trainer->run(spec));
    return JobAnswer{outcome, {}};
  });
}

}  // namespace ridgeline::execute
