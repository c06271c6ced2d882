// SPDX-License-Identifier: Apache-2.0
#include "watch/worker_probe.hpp"

#include <algorithm>
#include <utility>

#include "schema/error_message.hpp"
#include "schema/messages.hpp"
#include "watch/messages.hpp"

namespace ridgeline::watch {

using base::ErrorCode;
using base::Result;

namespace {

constexpr double kLeastTimedS = 0.1;
constexpr double kLongestWarmUpS = 1;

schema::Message problem_of(const schema::TrialOutcome& outcome) {
  const auto status = std::string(base::enum_name(outcome.status));
  if (!outcome.failure) return messages::probe_ended(status);
  return messages::probe_failed({.status = status,
                                 .phase = std::string(base::enum_name(outcome.failure->phase)),
                                 .failure = outcome.failure->message});
}

}  // namespace

WorkerProbe::WorkerProbe(Options options, ServiceInspector inspector, GpuSampler sampler)
    : options_(std::move(options)), inspector_(std::move(inspector)), sampler_(std::move(sampler)) {}

schema::MeasurementPlan WorkerProbe::plan_for(schema::MeasurementPlan plan, double probe_time_s) {
  plan.runs.reset();
  plan.max_time_s = probe_time_s;
  plan.min_time_s = std::min(kLeastTimedS, probe_time_s);
  plan.warmup_max_s = std::min({plan.warmup_max_s, kLongestWarmUpS, probe_time_s});
  return plan;
}

void WorkerProbe::set_baseline(const Baseline& baseline) {
  auto location = std::move(options_.baseline.run.workload.location);
  options_.baseline = baseline;
  options_.baseline.run.workload.location = std::move(location);
  inspector_.set_recommended(baseline.spec.configuration);
}

Result<Observation> WorkerProbe::look() {
  Observation seen;
  if (auto inspected = inspector_.inspect(seen.state); !inspected) {
    if (inspected.error().code == ErrorCode::cancelled) return tl::unexpected(std::move(inspected).error());
    seen.problem = schema::message_of(inspected.error());
    return seen;
  }
  seen.state.gpu_busy_percent = sampler_.busy_percent();
  auto spec = options_.baseline.spec;
  spec.workload = options_.baseline.run.workload;
  spec.workload.content_sha256 = seen.state.model_sha256;
  spec.runtime = seen.state.runtime;
  spec.configuration = *seen.state.configuration;
  spec.plan = plan_for(spec.plan, options_.probe_time_s);
  execute::TrialOptions trial;
  trial.throughput = options_.baseline.run.request.objective == schema::Objective::throughput;
  trial.keep_session = options_.keep_worker;
  auto outcome = execute::run_trial(inspector_.executor(), spec, trial);
  if (!options_.keep_worker) inspector_.release();
  if (!outcome) {
    if (outcome.error().code == ErrorCode::cancelled) return tl::unexpected(std::move(outcome).error());
    seen.problem = schema::message_of(outcome.error());
    return seen;
  }
  if (outcome->status != schema::TrialStatus::ok || !outcome->measurement || outcome->measurement->latency_ns.empty()) {
    seen.problem = problem_of(*outcome);
    seen.state.gpu = sampler_.sample();
    seen.state.process_names = process_names(seen.state.gpu);
    return seen;
  }
  auto& measurement = *outcome->measurement;
  seen.figure = analysis::figure_of(measurement);
  for (const auto& flag : measurement.flags)
    if (flag.code == "disturbed" || flag.code == "stolen") seen.state.disturbance = flag.message;
  seen.state.gpu = std::move(measurement.gpu);
  if (seen.state.gpu) seen.state.gpu->samples.clear();
  seen.state.process_names = process_names(seen.state.gpu);
  return seen;
}

}  // namespace ridgeline::watch
