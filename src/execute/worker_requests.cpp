// SPDX-License-Identifier: Apache-2.0
#include "execute/worker_requests.hpp"

#include <cmath>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "execute/classify.hpp"
#include "execute/messages.hpp"
#include "execute/reference_outputs.hpp"
#include "gpu/ceilings_probe.hpp"
#include "host/this_process.hpp"
#include "measure/disturbance.hpp"
#include "measure/paired_rounds.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using base::Result;
using schema::TrialPhase;
using schema::TrialStatus;

constexpr std::string_view kRequest = "request";

/// Equal for specs whose sessions are the same.
std::string session_key(schema::TrialSpec spec) {
  spec.plan = {};
  return spec.key();
}

/// With what `gpu` has seen, after the workload is gone: what was free and who else was there explains most of what ran
/// out of memory.
template <typename Outcome>
Outcome failed_outcome(const base::Error& error, TrialPhase phase, GpuObserver& gpu) {
  Outcome outcome;
  outcome.status = status_of(error);
  outcome.failure = failure_of(error, phase);
  outcome.failure->gpu = gpu.take();
  return outcome;
}

/// Reads the request that the method takes, and lets it answer.
template <typename Request>
Result<JobAnswer> answer_by(WorkerRequests& worker, Result<JobAnswer> (WorkerRequests::*method)(const Request&),
                            const base::Json& json) {
  RL_TRY_ASSIGN(const auto request, base::json_as<Request>(json, kRequest));
  return (worker.*method)(request);
}

}  // namespace

WireFrame WorkerRequests::answer(const WireFrame& frame) {
  base::Error error;
  std::string kind;
  try {
    auto answered = [&]() -> Result<JobAnswer> {
      if (frame.type != FrameType::job)
        return base::fail(ErrorCode::corrupt, "a worker cannot answer a message of type {}",
                          static_cast<int>(frame.type));
      RL_TRY_ASSIGN(auto json, base::parse_json(frame.json, kRequest));
      if (!json.is_object() || !json.contains("request"))
        return base::fail(ErrorCode::corrupt, "{}: not an object with a kind and a request", kRequest);
      RL_TRY_ASSIGN(kind, base::json_as<std::string>(json.value("kind", base::Json()), kRequest));
      return dispatch(kind, json["request"]);
    }();
    release();
    if (answered) return make_frame(std::move(*answered));
    error = std::move(answered).error();
  } catch (const std::bad_alloc&) {
    error = {ErrorCode::out_of_memory, "std::bad_alloc: an allocation was refused"};
  } catch (const std::exception& thrown) {
    error = {ErrorCode::internal, fmt::format("uncaught exception: {}", thrown.what())};
  }
  heartbeat_.follow(nullptr);
  // An exception that got past every wrapper is the runtime's failure, so it belongs to the trial.
  const bool thrown = error.code == ErrorCode::out_of_memory || error.code == ErrorCode::internal;
  std::optional<WireFrame> outcome;
  if (thrown && kind == job_kind::kTrial)
    outcome = make_frame(answer_of(failed_outcome<schema::TrialOutcome>(error, phase(), gpu_)));
  if (thrown && kind == job_kind::kPair)
    outcome = make_frame(answer_of(failed_outcome<schema::PairedOutcome>(error, phase(), gpu_)));
  if (thrown && kind == job_kind::kArm)
    outcome = make_frame(JobAnswer{failed_outcome<ArmAnswer>(error, phase(), gpu_), {}});
  release();
  return outcome ? std::move(*outcome) : make_error_frame(error);
}

void WorkerRequests::release() {
  heartbeat_.follow(nullptr);
  status_.control.gpu = nullptr;
  static_cast<void>(gpu_.take());
}

Result<JobAnswer> WorkerRequests::dispatch(const std::string& kind, const base::Json& request) {
  const auto by = [&](auto method) -> Result<JobAnswer> { return answer_by(*this, method, request); };
  if (kind == job_kind::kTrial) return by(&WorkerRequests::trial);
  if (kind == job_kind::kAhead) return by(&WorkerRequests::ahead);
  kept_.reset();
  if (kind == job_kind::kFind) return by(&WorkerRequests::find);
  if (kind == job_kind::kProbe) return by(&WorkerRequests::probe);
  if (kind == job_kind::kInspect) return by(&WorkerRequests::inspect);
  if (kind == job_kind::kExport) return by(&WorkerRequests::export_models);
  if (kind == job_kind::kPair) return by(&WorkerRequests::pair);
  if (kind == job_kind::kArm) return by(&WorkerRequests::arm);
  if (kind == job_kind::kReference) return by(&WorkerRequests::reference);
  if (kind == job_kind::kCeilings) return by(&WorkerRequests::ceilings);
  if (kind == job_kind::kGraph) return by(&WorkerRequests::graph);
  if (kind == job_kind::kProfile) return by(&WorkerRequests::profile);
  return base::fail(ErrorCode::corrupt, "a worker knows no job of kind \"{}\"", kind);
}

Result<JobAnswer> WorkerRequests::find(const FindRequest& request) {
  RL_TRY_ASSIGN(const auto* kind, registry_.find(request.kind));
  if (!kind->find) return JobAnswer{schema::RuntimeSearch{{schema::FoundRuntime{}}, {}}, {}};
  return JobAnswer{kind->find(request.where), {}};
}

Result<JobAnswer> WorkerRequests::probe(const ProbeRequest& request) {
  RL_TRY_ASSIGN(const auto* kind, registry_.find(request.kind));
  enter(TrialPhase::load_runtime);
  RL_TRY_ASSIGN(const auto identity, kind->probe(request.library, request.plugins));
  return JobAnswer{identity, {}};
}

Result<JobAnswer> WorkerRequests::inspect(const InspectMessage& request) {
  RL_TRY_ASSIGN(const auto* kind, registry_.find(request.workload.kind));
  enter(TrialPhase::load_runtime);
  RL_TRY_ASSIGN(const auto model, kind->inspect({request.workload, request.library, request.length}));
  return JobAnswer{model, {}};
}

Result<JobAnswer> WorkerRequests::export_models(const ExportRequest& request) {
  RL_TRY_ASSIGN(const auto* kind, registry_.find(request.workload.kind));
  if (!kind->export_models)
    return base::fail(ErrorCode::unsupported, "a workload of kind {} is not exported", request.workload.kind);
  enter(TrialPhase::create_session);
  return JobAnswer{
      kind->export_models(request.workload, request.library, request.folder, request.precisions, request.limit_s), {}};
}

Result<std::unique_ptr<workload::Workload>> WorkerRequests::prepared(const schema::TrialSpec& spec, bool watch_gpu) {
  RL_TRY_ASSIGN(const auto* kind, registry_.find(spec.workload.kind));
  enter(TrialPhase::load_runtime);
  RL_TRY_ASSIGN(auto workload, kind->make(spec));
  // On a virtual clock nothing runs on the GPU that the spec names.
  if (watch_gpu && workload->clock().is_real()) gpu_.begin(spec);
  workload->share_phase(status_.control.phase);
  heartbeat_.follow(workload.get());
  auto done = workload->prepare();
  heartbeat_.follow(nullptr);
  if (!done) {
    enter(workload->phase());
    return tl::unexpected<base::Error>(std::move(done).error());
  }
  if (const auto pid = workload->outside_process(); pid != 0) gpu_.add_worker(pid);
  return workload;
}

StandStill WorkerRequests::stand_still(const schema::TrialSpec& spec) {
  if (!spec.on_gpu()) return {};
  auto still = StandStill::begin();
  gpu_.expect_companions(still.on_gpu());
  return still;
}

std::unique_ptr<workload::Workload> WorkerRequests::take_kept(const schema::TrialSpec& spec) {
  auto kept = std::move(kept_);
  if (!kept || kept_key_ != session_key(spec)) return nullptr;
  if (kept->clock().is_real()) gpu_.begin(spec);
  return kept;
}

Result<schema::Measurement> WorkerRequests::measured(workload::Workload& workload, const TrialRequest& request) {
  auto& control = status_.control;
  control.stop_above_ns = request.stop_above_ns;
  control.throughput = request.throughput;
  control.gpu = gpu_.watch();
  return measure::measure(workload, request.spec.plan, control);
}

Result<JobAnswer> WorkerRequests::ahead(const workload::AheadRequest& request) {
  RL_TRY_ASSIGN(const auto* kind, registry_.find(request.kind));
  return JobAnswer{base::Json(kind->prepare_ahead ? kind->prepare_ahead(request) : workload::AheadStates{}), {}};
}

Result<JobAnswer> WorkerRequests::trial(const TrialRequest& request) {
  const bool fresh_mark = host::reset_peak_rss() || !std::exchange(served_trial_, true);
  const auto failed = [this](const base::Error& error) {
    return answer_of(failed_outcome<schema::TrialOutcome>(error, phase(), gpu_));
  };
  auto kept = take_kept(request.spec);
  const bool again = kept != nullptr;
  auto workload = again ? Result<std::unique_ptr<workload::Workload>>(std::move(kept)) : prepared(request.spec);
  if (!workload) return failed(workload.error());
  const auto still = stand_still(request.spec);
  auto measurement = measured(**workload, request);
  if (!measurement) {
    workload->reset();
    return failed(measurement.error());
  }
  if (const auto peak = host::peak_rss_bytes())
    measurement->peak_rss_bytes = *peak + (*workload)->outside_peak_rss_bytes();
  if (again) measurement->session_create_ns = 0;
  if (!fresh_mark)
    measurement->flags.push_back(
        {schema::FlagLevel::notice, "peak_rss_of_earlier_trials", messages::peak_memory_of_earlier()});
  schema::TrialOutcome outcome;
  outcome.measurement = std::move(*measurement);
  if (!request.reference.empty()) {
    enter(TrialPhase::verify);
    RL_TRY_ASSIGN(auto reference, workload::load_outputs(request.reference));
    auto output_error = compare_with_reference(**workload, std::move(reference));
    if (!output_error) {
      workload->reset();
      return failed(output_error.error());
    }
    outcome.output_error = std::move(*output_error);
  }
  // Callers step on threads that end with the measurement, and a captured CUDA graph belongs to its thread.
  if (request.keep_session && (*workload)->concurrency() == 1) {
    kept_ = std::move(*workload);
    kept_key_ = session_key(request.spec);
  }
  workload->reset();
  gpu_.end(*outcome.measurement);
  return answer_of(std::move(outcome));
}

Result<JobAnswer> WorkerRequests::pair(const PairRequest& request) {
  const auto failed = [this](const base::Error& error, std::string_view arm) {
    return answer_of(failed_outcome<schema::PairedOutcome>(
        base::Error{error.code, fmt::format("{}{}", arm, error.message), error.hint}, phase(), gpu_));
  };
  auto other = request.spec.base;
  other.configuration = request.spec.other;
  std::string_view arm;  // being made
  StandStill still;
  const auto maker = [&](const schema::TrialSpec& spec, std::string_view name) -> measure::MakeWorkload {
    return [&, name] {
      arm = name;
      still.end();
      auto made = prepared(spec);
      still = stand_still(spec);
      if (made) arm = {};
      status_.control.gpu = gpu_.watch();  // which is open from the first arm on
      return made;
    };
  };
  RL_TRY_ASSIGN(const auto* kind, registry_.find(request.spec.base.workload.kind));
  status_.control.clock = kind->clock ? kind->clock(request.spec.base) : &base::system_clock();
  status_.control.ends_within_s.reset();
  if (request.ends_within_s > 0) status_.control.ends_within_s = request.ends_within_s;
  auto measurement = measure::measure_paired_rounds(maker(request.spec.base, "arm A: "), maker(other, "arm B: "),
                                                    request.spec.plan, status_.control);
  if (!measurement) return failed(measurement.error(), arm);
  schema::PairedOutcome outcome;
  outcome.measurement = std::move(*measurement);
  return answer_of(std::move(outcome));
}

Result<JobAnswer> WorkerRequests::arm(const ArmRequest& request) {
  ArmAnswer answer;
  JobAnswer out;
  if (const auto done = advance_arm(request, answer, out); !done)
    answer = failed_outcome<ArmAnswer>(done.error(), phase(), gpu_);
  out.value = answer;
  return out;
}

Result<void> WorkerRequests::advance_arm(const ArmRequest& request, ArmAnswer& answer, JobAnswer& out) {
  auto& control = status_.control;
  if (request.step == ArmStep::make) {
    if (!request.spec) return base::fail(ErrorCode::corrupt, "{}: an arm without a spec", kRequest);
    // The parent watches the GPU: here the other arm's process would be a stranger.
    const auto make = [&]() -> Result<std::unique_ptr<workload::Workload>> {
      RL_TRY_ASSIGN(auto workload, prepared(*request.spec, false));
      answer.outside_process = workload->outside_process();
      return workload;
    };
    RL_TRY_ASSIGN(arm_, measure::LocalArm::make(make, control));
  } else if (!arm_) {
    return base::fail(ErrorCode::corrupt, "{}: no arm has been made", kRequest);
  } else if (request.step == ArmStep::warm_up) {
    enter(TrialPhase::warmup);
    RL_TRY_ASSIGN(answer.warm_up_flag, arm_->warm_up(request.plan.warmup));
  } else {
    enter(TrialPhase::measure);
    const auto switches_before = measure::involuntary_switches();
    RL_TRY_ASSIGN(auto block, arm_->run_block(request.plan));
    answer.involuntary_switches = measure::involuntary_switches() - switches_before;
    out.samples = std::move(block.latency_ns);
    answer.wall_ns = block.wall_ns;
    answer.discard_s = block.discard_s;
    answer.timed_s = block.timed_s;
  }
  answer.real_time = arm_->real_time();
  answer.items_per_inference = arm_->items_per_inference();
  answer.flags = arm_->flags();
  return {};
}

Result<JobAnswer> WorkerRequests::reference(const ReferenceRequest& request) {
  const auto prepare = [&]() -> Result<std::unique_ptr<workload::Workload>> {
    RL_TRY_ASSIGN(auto workload, prepared(request.spec));
    enter(TrialPhase::verify);
    return workload;
  };
  RL_TRY_ASSIGN(const auto reference, make_reference_outputs(prepare));
  RL_TRY(workload::save_outputs(reference.outputs, request.path));
  return JobAnswer{reference.noise, {}};
}

Result<JobAnswer> WorkerRequests::ceilings(const ProbeRequest& request) {
  RL_TRY_ASSIGN(const auto* kind, registry_.find(request.kind));
  enter(TrialPhase::load_runtime);
  // The runtime's provider brings its own cuBLAS into this process, found in places that only the runtime's kind knows.
  RL_TRY(kind->probe(request.library, {}));
  RL_TRY_ASSIGN(const auto driver, gpu::CudaDriver::load());
  enter(TrialPhase::measure);
  RL_TRY_ASSIGN(const auto found, gpu::probe_ceilings(driver));
  return JobAnswer{found, {}};
}

Result<JobAnswer> WorkerRequests::graph(const GraphRequest& request) {
  RL_TRY_ASSIGN(const auto* kind, registry_.find(request.spec.workload.kind));
  if (!kind->runtime_graph)
    return base::fail(ErrorCode::unsupported, "a workload of kind \"{}\" has no graph", kind->name);
  enter(TrialPhase::create_session);
  RL_TRY_ASSIGN(const auto found, kind->runtime_graph(request.spec));
  return JobAnswer{found, {}};
}

Result<JobAnswer> WorkerRequests::profile(const ProfileRequest& request) {
  RL_TRY_ASSIGN(const auto* kind, registry_.find(request.spec.workload.kind));
  if (!kind->profile)
    return base::fail(ErrorCode::unsupported, "a workload of kind \"{}\" cannot be profiled", kind->name);
  enter(TrialPhase::measure);
  RL_TRY_ASSIGN(const auto found, kind->profile(request.spec, request.plan, request.folder));
  return JobAnswer{found, {}};
}

}  // namespace ridgeline::execute
