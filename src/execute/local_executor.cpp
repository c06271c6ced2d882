// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <utility>

#include "base/clock.hpp"
#include "execute/classify.hpp"
#include "execute/deadline.hpp"
#include "execute/executor.hpp"
#include "execute/gpu_memory_gate.hpp"
#include "execute/message.hpp"
#include "execute/worker_connection.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using base::Result;
using Reply = WorkerConnection::Reply;

constexpr double kProbeDeadlineS = 120;
constexpr double kInspectDeadlineS = 600;
constexpr double kLeastTimeS = 1e-3;  // a time that is over is not one without an end

/// What a failed reference leaves to do, where it has no hint of its own. What the user gave is their own to mend.
base::Error with_next_step(base::Error error) {
  if (!error.hint.empty()) return error;
  switch (error.code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::cancelled:
    case ErrorCode::out_of_time: break;
    case ErrorCode::out_of_memory:
      error.hint = "free memory, give a smaller --shape or --batch, or --accuracy-tolerance off to go on without it";
      break;
    default: error.hint = "try another --ort-library, or --accuracy-tolerance off to go on without it";
  }
  return error;
}

class LocalExecutor final : public Executor {
 public:
  explicit LocalExecutor(WorkerOptions options) : options_(std::move(options)) {}

  Result<schema::RuntimeIdentity> probe(const std::string& kind, const std::string& library) override {
    RL_TRY_ASSIGN(const auto frame, ask(make_frame(FrameType::probe, ProbeRequest{kind, library}), kProbeDeadlineS,
                                        fmt::format("loading the runtime of \"{}\"", kind)));
    return read_frame<schema::RuntimeIdentity>(frame, kWorkerAnswer);
  }

  Result<schema::ModelDescription> inspect(const workload::InspectRequest& request) override {
    RL_TRY_ASSIGN(const auto frame,
                  ask(make_frame(FrameType::inspect, InspectMessage{request.workload, request.runtime_library}),
                      kInspectDeadlineS, fmt::format("reading {}", request.workload.location)));
    return read_frame<schema::ModelDescription>(frame, kWorkerAnswer);
  }

  Result<schema::AccuracyDrift> make_reference(const schema::TrialSpec& spec, const std::filesystem::path& path,
                                               const TimeLeft& time_left) override {
    gpu_gate_.look(spec.device, worker_on_gpu());
    auto frame = ask(make_frame(FrameType::reference, ReferenceRequest{spec, path.string()}),
                     derived_deadline_s(spec.plan, spec.provider), "running the accuracy reference", time_left);
    mark(pooled_, spec);
    if (!frame) return tl::unexpected<base::Error>(with_next_step(std::move(frame).error()));
    return read_frame<schema::AccuracyDrift>(*frame, kWorkerAnswer);
  }

  Result<schema::GpuCeilings> gpu_ceilings(const std::string& kind, const std::string& library) override {
    auto frame = ask(make_frame(FrameType::ceilings, ProbeRequest{kind, library}), kProbeDeadlineS,
                     "measuring what the GPU reaches");
    pooled_.reset();  // whose GPU memory now holds more than trials need
    if (!frame) return tl::unexpected<base::Error>(std::move(frame).error());
    return read_frame<schema::GpuCeilings>(*frame, kWorkerAnswer);
  }

  Result<schema::RuntimeGraph> runtime_graph(const schema::TrialSpec& spec) override {
    gpu_gate_.look(spec.device, worker_on_gpu());
    const auto frame = ask(make_frame(FrameType::graph, GraphRequest{spec}), kProbeDeadlineS,
                           fmt::format("reading the runtime's graph of {}", spec.workload.location));
    mark(pooled_, spec);
    if (!frame) return tl::unexpected<base::Error>(frame.error());
    return read_frame<schema::RuntimeGraph>(*frame, kWorkerAnswer);
  }

  Result<schema::TrialOutcome> run_trial(const schema::TrialSpec& spec, const TrialOptions& options) override {
    const TrialRequest request{spec, options.abandon_above_ns, options.throughput, options.reference_outputs.string(),
                               options.keep_session};
    const double deadline_s =
        options.deadline_s > 0 ? options.deadline_s : derived_deadline_s(spec.plan, spec.provider);
    // An idle worker still holds memory on the GPU, and the trial would call it somebody else.
    if (spec.provider != "cpu") pairs_.reset();
    if (spec.alone) pooled_.reset();  // an earlier session made its process one of several streams
    auto flag = gpu_gate_.enter(spec.device, worker_on_gpu());
    auto& worker = options.apart && spec.provider == "cpu" ? apart_ : pooled_;
    const bool used = worker != nullptr;
    const auto ask = [&] {
      return run<schema::TrialOutcome>(worker, make_frame(FrameType::trial, request), deadline_s, options.time_left,
                                       read_trial_outcome);
    };
    auto outcome = ask();
    // A GPU runtime that aborts in a used process may have died of the trial before: seen with ONNX Runtime 1.29, which
    // freed pinned memory after another session's graph.
    if (used && spec.provider != "cpu" && outcome && outcome->failure && outcome->failure->signal == SIGABRT)
      outcome = ask();
    mark(worker, spec);
    leave_gpu(outcome, std::move(flag));
    if (options_.isolation == Isolation::trial) pooled_.reset();
    return outcome;
  }

  Result<schema::PairedOutcome> run_pair(const schema::PairedSpec& spec, const TimeLeft& time_left) override {
    const bool on_gpu = spec.base.provider != "cpu";
    // As above: neither worker may stand beside the other on a GPU.
    auto& worker = on_gpu && !spec.fresh_process && pooled_ ? pooled_ : pairs_;
    if (on_gpu && &worker == &pairs_) pooled_.reset();
    if (spec.fresh_process) pairs_.reset();
    auto flag = gpu_gate_.enter(spec.base.device, worker_on_gpu());
    const bool used = worker != nullptr;
    const auto begin = options_.clock->now();
    const auto ask = [&] {
      auto left = time_left;
      left.seconds -= base::to_seconds(options_.clock->now() - begin);
      const PairRequest request{spec, std::isfinite(left.seconds) ? std::max(kLeastTimeS, left.seconds) : 0};
      return run<schema::PairedOutcome>(worker, make_frame(FrameType::pair, request),
                                        derived_deadline_s(spec.plan, spec.base.provider), left, read_paired_outcome);
    };
    auto outcome = ask();
    // What a used process died of may be the pair before.
    if (used && outcome && !leaves_worker_usable(outcome->status)) outcome = ask();
    mark(worker, spec.base);
    if (options_.isolation == Isolation::trial) worker.reset();
    leave_gpu(outcome, std::move(flag));
    return outcome;
  }

 private:
  /// Notes that the worker in `slot`, if there still is one, has been where the spec's trials run.
  static void mark(const std::unique_ptr<WorkerConnection>& slot, const schema::TrialSpec& spec) {
    if (slot && spec.provider != "cpu") slot->came_to_gpu();
  }

  [[nodiscard]] bool worker_on_gpu() const {
    const auto there = [](const auto& worker) { return worker && worker->on_gpu() && worker->alive(); };
    return there(pooled_) || there(pairs_);
  }

  /// Sends the request to the worker in `slot`, started when there is none. The slot is empty afterwards unless the
  /// worker has answered.
  Result<Reply> exchange(std::unique_ptr<WorkerConnection>& slot, const Frame& request, double deadline_s,
                         const TimeLeft& time_left) {
    if (slot && !slot->alive()) slot.reset();  // killed from outside while it was idle
    const bool reused = slot != nullptr;
    if (!slot) {
      RL_TRY_ASSIGN(slot, WorkerConnection::launch(options_));
    }
    auto reply = slot->exchange(request, deadline_s, time_left);
    if (reply && std::holds_alternative<Frame>(*reply)) return reply;
    slot.reset();
    // An idle worker that died just before it got the request says nothing about the request.
    const auto* death = reply ? std::get_if<WorkerDeath>(&*reply) : nullptr;
    if (reused && death != nullptr && death->cause == DeathCause::ended && death->phase == schema::TrialPhase::launch)
      return exchange(slot, request, deadline_s, time_left);
    return reply;
  }

  /// For requests that either succeed or are an Error. They leave no session behind, so they share the pooled worker.
  Result<Frame> ask(const Frame& request, double deadline_s, std::string_view doing, const TimeLeft& time_left = {}) {
    auto reply = exchange(pooled_, request, deadline_s, time_left);
    if (options_.isolation == Isolation::trial) pooled_.reset();
    if (!reply) return tl::unexpected<base::Error>(std::move(reply).error());
    if (const auto* death = std::get_if<WorkerDeath>(&*reply))
      return tl::unexpected<base::Error>(error_of(*death).in(doing));
    auto& frame = std::get<Frame>(*reply);
    if (frame.type == FrameType::error) {
      auto error = read_error_frame(frame);
      if (!leaves_worker_usable(status_of(error)) && error.code != ErrorCode::not_found) pooled_.reset();
      return tl::unexpected<base::Error>(std::move(error));
    }
    return std::move(frame);
  }

  template <typename Outcome, typename Read>
  Result<Outcome> run(std::unique_ptr<WorkerConnection>& slot, const Frame& request, double deadline_s,
                      const TimeLeft& time_left, Read read) {
    const auto measured_utc = base::system_clock().utc_now();
    const auto begun = options_.clock->now();
    RL_TRY_ASSIGN(auto reply, exchange(slot, request, deadline_s, time_left));
    Outcome outcome;
    if (const auto* death = std::get_if<WorkerDeath>(&reply)) {
      outcome.status = status_of(*death);
      outcome.failure = failure_of(*death);
    } else {
      auto& frame = std::get<Frame>(reply);
      if (frame.type == FrameType::error) return tl::unexpected<base::Error>(read_error_frame(frame));
      auto answered = read(std::move(frame));
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

  const WorkerOptions options_;
  std::unique_ptr<WorkerConnection> pooled_;
  std::unique_ptr<WorkerConnection> pairs_;  ///< has run nothing but pairs
  std::unique_ptr<WorkerConnection> apart_;  ///< of TrialOptions::apart
  GpuMemoryGate gpu_gate_{nvml_free_memory()};
};

}  // namespace

std::unique_ptr<Executor> make_local_executor(WorkerOptions options) {
  return std::make_unique<LocalExecutor>(std::move(options));
}

}  // namespace ridgeline::execute
