// SPDX-License-Identifier: Apache-2.0
#include "execute/across_pair.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "execute/classify.hpp"
#include "execute/fork_server_client.hpp"
#include "execute/gpu_observer.hpp"
#include "execute/message.hpp"
#include "execute/messages.hpp"
#include "execute/worker_connection.hpp"
#include "measure/paired_rounds.hpp"
#include "schema/message_renderer.hpp"
#include "schema/messages.hpp"

namespace ridgeline::execute {
namespace {

using base::Result;
using measure::PairedArm;

constexpr double kReportS = 0.05;  // between two, as of a worker's own
/// Of a core: what is read as used by a process that stands still is off by a tick of the kernel now and then.
constexpr double kIdleShare = 0.01;

/// The worker processes of one comparison, of which one runs at a time.
class ArmProcesses {
 public:
  ArmProcesses(const WorkerOptions& options, const Job& job)
      : options_(options), job_(job), reported_(options.on_progress), begun_(options_.clock->now()) {
    if (reported_)
      options_.on_progress = [this](JobProgress progress) {
        progress.elapsed_s = real_s();
        progress.steps += steps_;
        reported_(progress);
      };
  }

  Result<std::unique_ptr<WorkerConnection>> launch() {
    let_run(nullptr);
    RL_TRY_ASSIGN(auto worker, WorkerConnection::launch(options_));
    running_ = worker.get();
    const std::lock_guard lock(mutex_);
    workers_.push_back(worker->pid());
    return worker;
  }

  void end(std::unique_ptr<WorkerConnection> worker) {
    if (running_ == worker.get()) running_ = nullptr;
    const std::array own{worker->pid(), worker->outside()};
    worker.reset();
    const std::lock_guard lock(mutex_);
    std::erase_if(workers_, [&](std::int64_t pid) { return std::find(own.begin(), own.end(), pid) != own.end(); });
  }

  /// Errors: cancelled, out_of_time; anything else is failure() as well, but for faults of our own.
  Result<ArmAnswer> ask(char arm, WorkerConnection& worker, const ArmRequest& request,
                        std::vector<double>* latency_ns) {
    failure_.reset();
    let_run(&worker);
    RL_TRY_ASSIGN(auto reply, worker.exchange(make_job_frame(job_kind::kArm, request),
                                              std::max(0.0, job_.deadline_s - real_s()), time_left()));
    if (auto* death = std::get_if<WorkerDeath>(&reply)) {
      if (death->cause == DeathCause::deadline)
        death->message =
            messages::no_comparison({.limit_s = job_.deadline_s, .phase = std::string(base::enum_name(death->phase))});
      return failed(arm, status_of(*death), failure_of(*death), error_of(*death).code);
    }
    auto& frame = std::get<WireFrame>(reply);
    if (frame.type == FrameType::error) return tl::unexpected<base::Error>(read_error_frame(frame));
    RL_TRY_ASSIGN(auto answered, read_frame(std::move(frame)));
    RL_TRY_ASSIGN(auto answer, base::json_as<ArmAnswer>(answered.value, kWorkerAnswer));
    if (answer.failure) {
      answer.failure->stderr_tail = worker.output_tail();
      return failed(arm, answer.status, std::move(*answer.failure),
                    answer.status == schema::TrialStatus::out_of_memory ? base::ErrorCode::out_of_memory
                                                                        : base::ErrorCode::internal);
    }
    if (request.step == ArmStep::make && answer.outside_process != 0) {
      worker.comes_with(static_cast<pid_t>(answer.outside_process));
      const std::lock_guard lock(mutex_);
      workers_.push_back(answer.outside_process);
    }
    if (latency_ns != nullptr) *latency_ns = std::move(answered.samples);
    return answer;
  }

  /// A block is too short to be reported while it runs.
  void add_steps(std::size_t steps) {
    steps_ += static_cast<std::int64_t>(steps);
    if (!reported_ || real_s() - reported_s_ < kReportS) return;
    reported_s_ = real_s();
    reported_({.phase = schema::TrialPhase::measure, .steps = steps_, .elapsed_s = reported_s_});
  }

  [[nodiscard]] TimeLeft time_left() const {
    auto left = job_.time_left;
    left.seconds -= std::max(base::to_seconds(options_.clock->now() - begun_), real_s());
    return left;
  }
  /// Of the last request, if it failed.
  [[nodiscard]] const std::optional<schema::PairedOutcome>& failure() const noexcept { return failure_; }
  /// Any thread.
  [[nodiscard]] std::vector<std::int64_t> pids() const {
    const std::lock_guard lock(mutex_);
    return workers_;
  }

 private:
  [[nodiscard]] double real_s() const { return base::to_seconds(base::system_clock().now() - really_begun_); }

  void let_run(WorkerConnection* worker) {
    if (running_ != nullptr && running_ != worker) running_->pause();
    running_ = worker;
  }

  tl::unexpected<base::Error> failed(char arm, schema::TrialStatus status, schema::Failure failure,
                                     base::ErrorCode code) {
    failure.message = messages::arm_failed({.arm = std::string(1, arm), .what = failure.message});
    const std::array tables{schema::messages::table(), messages::table()};
    const schema::MessageRenderer words(tables);
    base::Error error{code, words.text(failure.message), words.hint(failure.message)};
    failure_.emplace();
    failure_->status = status;
    failure_->failure = std::move(failure);
    return tl::unexpected<base::Error>(std::move(error));
  }

  WorkerOptions options_;
  const Job& job_;
  const std::function<void(const JobProgress&)> reported_;
  const base::Nanoseconds begun_;  ///< on the run's clock
  const base::Nanoseconds really_begun_ = base::system_clock().now();
  double reported_s_ = 0;
  std::int64_t steps_ = 0;
  WorkerConnection* running_ = nullptr;
  std::optional<schema::PairedOutcome> failure_;
  mutable std::mutex mutex_;  ///< of workers_
  std::vector<std::int64_t> workers_;
};

/// An arm in a worker process.
class RemoteArm final : public PairedArm {
 public:
  RemoteArm(ArmProcesses& processes, char name, std::unique_ptr<WorkerConnection> worker)
      : processes_(processes), name_(name), worker_(std::move(worker)) {}
  ~RemoteArm() override { processes_.end(std::move(worker_)); }

  static Result<std::unique_ptr<PairedArm>> make(ArmProcesses& processes, char name, const schema::TrialSpec& spec) {
    RL_TRY_ASSIGN(auto worker, processes.launch());
    auto arm = std::make_unique<RemoteArm>(processes, name, std::move(worker));
    if (spec.on_gpu()) arm->worker_->came_to_gpu();
    ArmRequest request;
    request.step = ArmStep::make;
    request.spec = spec;
    RL_TRY(arm->ask(request));
    return arm;
  }

  Result<std::optional<schema::QualityFlag>> warm_up(const schema::MeasurementPlan& plan) override {
    ArmRequest request;
    request.step = ArmStep::warm_up;
    request.plan.warmup = plan;
    RL_TRY(ask(request));
    return last_.warm_up_flag;
  }

  Result<measure::TimedBlock> run_block(const schema::PairedPlan& plan) override {
    ArmRequest request;
    request.plan = plan;
    request.plan.settle_s = 0;  // the other arm stands still
    measure::TimedBlock block;
    const auto begin = base::system_clock().now();
    RL_TRY(ask(request, &block.latency_ns));
    involuntary_switches_ += last_.involuntary_switches;
    block.complete = true;
    block.wall_ns = last_.wall_ns;
    block.discard_s = last_.discard_s;
    block.timed_s = last_.timed_s;
    if (last_.real_time)
      block.settle_s =
          std::max(0.0, base::to_seconds(base::system_clock().now() - begin) - block.discard_s - block.timed_s);
    processes_.add_steps(block.latency_ns.size());
    return block;
  }

  double items_per_inference() const override { return last_.items_per_inference; }
  bool real_time() const override { return last_.real_time; }
  measure::ProcessUse outside_use() const override { return {worker_->cpu_s().value_or(0), involuntary_switches_}; }
  std::vector<schema::QualityFlag> flags() const override {
    auto flags = last_.flags;
    if (const auto pauses = worker_->pauses(); pauses.cpu_s > kIdleShare * pauses.wall_s)
      flags.push_back(
          {schema::FlagLevel::notice, "waiting_arm_computed",
           messages::waiting_arm_computed(
               {.arm = std::string(1, name_), .cpu_ms = pauses.cpu_s * 1e3, .wall_ms = pauses.wall_s * 1e3})});
    return flags;
  }

 private:
  Result<void> ask(const ArmRequest& request, std::vector<double>* latency_ns = nullptr) {
    RL_TRY_ASSIGN(last_, processes_.ask(name_, *worker_, request, latency_ns));
    return {};
  }

  ArmProcesses& processes_;
  const char name_;
  std::unique_ptr<WorkerConnection> worker_;
  ArmAnswer last_;
  std::int64_t involuntary_switches_ = 0;
};

}  // namespace

Result<schema::PairedOutcome> run_across(const WorkerOptions& options, const Job& job, const schema::PairedSpec& spec) {
  auto other = *spec.across;
  other.configuration = spec.other;
  ArmProcesses processes(options, job);
  GpuObserver gpu([&] { return processes.pids(); });
  if (options.clock->is_real()) gpu.begin(spec.base.on_gpu() ? spec.base : other);
  measure::MeasureControl control;
  control.clock = options.clock;
  control.gpu = gpu.watch();
  if (const double left_s = processes.time_left().seconds; std::isfinite(left_s))
    control.ends_within_s = std::max(0.0, left_s);
  StandStill still;
  const auto made = [&](char name, const schema::TrialSpec& one) {
    still.end();
    auto arm = RemoteArm::make(processes, name, one);
    if (one.on_gpu()) {
      still = StandStill::begin();
      gpu.expect_companions(still.on_gpu());
    }
    return arm;
  };
  auto measurement =
      measure::measure_paired_rounds(measure::MakeArm([&] { return made('A', spec.base); }),
                                     measure::MakeArm([&] { return made('B', other); }), spec.plan, control);
  schema::PairedOutcome outcome;
  if (measurement) {
    outcome.measurement = std::move(*measurement);
  } else if (processes.failure()) {
    outcome = *processes.failure();
    outcome.failure->gpu = gpu.take();
  } else {
    return tl::unexpected<base::Error>(std::move(measurement).error());
  }
  return outcome;
}

}  // namespace ridgeline::execute
