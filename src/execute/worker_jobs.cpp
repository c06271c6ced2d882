// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "execute/across_pair.hpp"
#include "execute/classify.hpp"
#include "execute/gpu_memory_gate.hpp"
#include "execute/message.hpp"
#include "execute/worker_jobs.hpp"
#include "execute/worker_pool.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using base::Result;
using Reply = WorkerConnection::Reply;
using Role = WorkerPool::Role;

constexpr double kLeastTimeS = 1e-3;  // a time that is over is not one without an end

/// The worker processes of one slot.
class WorkerJobs {
 public:
  explicit WorkerJobs(WorkerOptions options) : options_(std::move(options)) {}

  /// A job that either succeeds or is an Error. It leaves no session behind, so it shares the worker of trials.
  Result<JobAnswer> plain(const Job& job) {
    const auto found = job.request.find("spec");
    if (found == job.request.end()) return ask(pool_.find(Role::trials, std::nullopt), job);
    RL_TRY_ASSIGN(const auto spec, base::json_as<schema::TrialSpec>(*found, "job"));
    auto& worker = pool_.find(Role::trials, WorkerPool::runtime_of(spec));
    if (spec.on_gpu()) pool_.leave_gpu(&worker);
    gpu_gate_.look(spec.device, ours_on_gpu());
    auto answer = ask(worker, job);
    mark(worker, spec);
    return answer;
  }

  Result<JobAnswer> ahead(const Job& job) {
    prepares_ahead_ = true;
    return plain(job);
  }

  /// A job that loads a library whose sessions may never be wanted, or leaves more memory on the GPU than trials need.
  Result<JobAnswer> by_itself(const Job& job) {
    if (job.kind == job_kind::kCeilings) pool_.leave_gpu(nullptr);
    WorkerPool::Slot worker;
    return ask(worker, job);
  }

  Result<JobAnswer> trial(const Job& job) {
    RL_TRY_ASSIGN(const auto request, base::json_as<TrialRequest>(job.request, "job"));
    const auto& spec = request.spec;
    const auto role = request.apart && !spec.on_gpu() ? Role::apart : Role::trials;
    auto& worker = pool_.find(role, WorkerPool::runtime_of(spec));
    // An idle worker still holds memory on the GPU, and the trial would call it somebody else.
    if (spec.on_gpu()) pool_.leave_gpu(&worker);
    if (spec.isolated) worker.reset();  // an earlier session made its process one of several streams
    auto flag = gpu_gate_.enter(spec.device, ours_on_gpu());
    const bool used = worker != nullptr;
    const auto ask = [&] { return run<schema::TrialOutcome>(worker, job, job.request, job.time_left); };
    auto outcome = ask();
    // A GPU runtime that aborts in a used process may have died of the trial before: seen with ONNX Runtime 1.29, which
    // freed pinned memory after another session's graph.
    if (used && spec.on_gpu() && outcome && outcome->failure && outcome->failure->signal == SIGABRT) outcome = ask();
    mark(worker, spec);
    leave_gpu(outcome, std::move(flag));
    if (options_.isolation == Isolation::trial && role != Role::apart) worker.reset();
    return std::move(outcome).map([](auto&& found) { return answer_of(std::move(found)); });
  }

  Result<JobAnswer> pair(const Job& job) {
    RL_TRY_ASSIGN(auto request, base::json_as<PairRequest>(job.request, "job"));
    const auto& spec = request.spec;
    if (spec.across) return across(job, spec);
    const auto runtime = WorkerPool::runtime_of(spec.base);
    const bool on_gpu = spec.base.on_gpu();
    // As above: neither worker may stand beside the other on a GPU.
    auto& worker = pool_.find(
        on_gpu && !request.fresh_process && pool_.has(Role::trials, runtime) ? Role::trials : Role::pairs, runtime);
    if (on_gpu) pool_.leave_gpu(&worker);
    if (request.fresh_process) worker.reset();
    auto flag = gpu_gate_.enter(spec.base.device, ours_on_gpu());
    const bool used = worker != nullptr;
    const auto begin = options_.clock->now();
    const auto ask = [&] {
      auto left = job.time_left;
      left.seconds -= base::to_seconds(options_.clock->now() - begin);
      request.ends_within_s = std::isfinite(left.seconds) ? std::max(kLeastTimeS, left.seconds) : 0;
      return run<schema::PairedOutcome>(worker, job, request, left);
    };
    auto outcome = ask();
    // What a used process died of may be the pair before.
    if (used && outcome && !leaves_worker_usable(outcome->status)) outcome = ask();
    mark(worker, spec.base);
    if (options_.isolation == Isolation::trial) worker.reset();
    leave_gpu(outcome, std::move(flag));
    return std::move(outcome).map([](auto&& found) { return answer_of(std::move(found)); });
  }

 private:
  /// Notes that the worker in `slot`, if there still is one, has been where the spec's trials run and may hold memory.
  static void mark(const WorkerPool::Slot& slot, const schema::TrialSpec& spec) {
    if (slot && spec.on_gpu() && !schema::provider_of(spec.provider).own_process) slot->came_to_gpu();
  }

  Result<JobAnswer> across(const Job& job, const schema::PairedSpec& spec) {
    std::optional<schema::QualityFlag> flag;
    if (spec.base.on_gpu() || spec.across->on_gpu()) {
      pool_.leave_gpu(nullptr);
      flag = gpu_gate_.enter((spec.base.on_gpu() ? spec.base : *spec.across).device, prepares_ahead_);
    }
    const auto measured_utc = base::system_clock().utc_now();
    const auto begun = options_.clock->now();
    auto outcome = run_across(options_, job, spec);
    leave_gpu(outcome, std::move(flag));
    if (!outcome) return tl::unexpected<base::Error>(std::move(outcome).error());
    outcome->measured_utc = measured_utc;
    outcome->duration_s = base::to_seconds(options_.clock->now() - begun);
    return answer_of(std::move(*outcome));
  }

  /// Sends the request to the worker in `slot`, started when there is none. The slot is empty afterwards unless the
  /// worker has answered.
  Result<Reply> exchange(WorkerPool::Slot& slot, const WireFrame& request, double deadline_s,
                         const TimeLeft& time_left) {
    if (slot && !slot->alive()) slot.reset();  // killed from outside while it was idle
    const bool reused = slot != nullptr;
    if (!slot) {
      RL_TRY_ASSIGN(slot, WorkerConnection::launch(options_));
    }
    auto reply = slot->exchange(request, deadline_s, time_left);
    if (reply && std::holds_alternative<WireFrame>(*reply)) return reply;
    slot.reset();
    // An idle worker that died just before it got the request says nothing about the request.
    const auto* death = reply ? std::get_if<WorkerDeath>(&*reply) : nullptr;
    if (reused && death != nullptr && death->cause == DeathCause::ended && death->phase == schema::TrialPhase::launch)
      return exchange(slot, request, deadline_s, time_left);
    return reply;
  }

  Result<JobAnswer> ask(WorkerPool::Slot& slot, const Job& job) {
    auto reply = exchange(slot, make_job_frame(job.kind, job.request), job.deadline_s, job.time_left);
    if (options_.isolation == Isolation::trial) slot.reset();
    if (!reply) return tl::unexpected<base::Error>(std::move(reply).error());
    if (const auto* death = std::get_if<WorkerDeath>(&*reply))
      return tl::unexpected<base::Error>(error_of(*death).in(job.doing));
    auto& frame = std::get<WireFrame>(*reply);
    if (frame.type == FrameType::error) {
      auto error = read_error_frame(frame);
      if (!leaves_worker_usable(status_of(error)) && error.code != ErrorCode::not_found) slot.reset();
      return tl::unexpected<base::Error>(std::move(error));
    }
    return read_frame(std::move(frame));
  }

  template <typename Outcome>
  Result<Outcome> run(WorkerPool::Slot& slot, const Job& job, const base::Json& request, const TimeLeft& time_left) {
    const auto measured_utc = base::system_clock().utc_now();
    const auto begun = options_.clock->now();
    RL_TRY_ASSIGN(auto reply, exchange(slot, make_job_frame(job.kind, request), job.deadline_s, time_left));
    Outcome outcome;
    if (const auto* death = std::get_if<WorkerDeath>(&reply)) {
      outcome.status = status_of(*death);
      outcome.failure = failure_of(*death);
    } else {
      auto& frame = std::get<WireFrame>(reply);
      if (frame.type == FrameType::error) return tl::unexpected<base::Error>(read_error_frame(frame));
      auto answered = read_frame(std::move(frame)).and_then([](JobAnswer&& answer) {
        return read_answer<Outcome>(std::move(answer));
      });
      if (!answered) {
        slot.reset();
        return tl::unexpected<base::Error>(std::move(answered).error());
      }
      outcome = std::move(*answered);
      if (outcome.failure) outcome.failure->stderr_tail = slot->output_tail();
      if (!leaves_worker_usable(outcome.status)) slot.reset();
    }
    outcome.measured_utc = measured_utc;
    outcome.duration_s = base::to_seconds(options_.clock->now() - begun);
    return outcome;
  }

  template <typename Outcome>
  void leave_gpu(Result<Outcome>& outcome, std::optional<schema::QualityFlag> flag) {
    gpu_gate_.leave(!outcome || !leaves_worker_usable(outcome->status));
    if (flag && outcome) schema::add_flag(*outcome, std::move(*flag));
  }

  [[nodiscard]] bool ours_on_gpu() const { return prepares_ahead_ || pool_.on_gpu(); }

  const WorkerOptions options_;
  WorkerPool pool_;
  bool prepares_ahead_ = false;  ///< processes that nobody here knows may come to the GPU and leave it
  GpuMemoryGate gpu_gate_{nvml_free_memory()};
};

}  // namespace

void add_worker_jobs(LocalTransport& transport, WorkerOptions options) {
  const auto workers = std::make_shared<WorkerJobs>(std::move(options));
  for (const auto kind :
       {job_kind::kFind, job_kind::kInspect, job_kind::kExport, job_kind::kReference, job_kind::kGraph})
    transport.add(kind, [workers](const Job& job) { return workers->plain(job); });
  for (const auto kind : {job_kind::kProbe, job_kind::kCeilings, job_kind::kProfile})
    transport.add(kind, [workers](const Job& job) { return workers->by_itself(job); });
  transport.add(job_kind::kAhead, [workers](const Job& job) { return workers->ahead(job); });
  transport.add(job_kind::kTrial, [workers](const Job& job) { return workers->trial(job); });
  transport.add(job_kind::kPair, [workers](const Job& job) { return workers->pair(job); });
}

}  // namespace ridgeline::execute
