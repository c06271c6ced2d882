// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "schema/gpu_ceilings.hpp"
#include "schema/model_description.hpp"
#include "schema/runtime_graph.hpp"
#include "schema/trial_outcome.hpp"
#include "schema/trial_spec.hpp"
#include "workload/workload_registry.hpp"

namespace ridgeline::execute {

/// What a request gets of the time of the whole run. One that has no answer by then ends with ErrorCode::out_of_time,
/// which is no statement about it: once `seconds` have passed as soon as nothing moves in it, after `grace_s` more in
/// any case, so that ordinary work may end.
struct TimeLeft {
  double seconds = std::numeric_limits<double>::infinity();
  double grace_s = 0;
};

/// How a trial is to be run; nothing here changes its identity.
struct TrialOptions {
  std::optional<double> abandon_above_ns;  ///< MeasureControl::abandon_above_ns
  bool throughput = false;
  std::filesystem::path reference_outputs;  ///< compare outputs with this file; "" = no comparison
  double deadline_s = 0;                    ///< whole trial; 0 = derived from the plan (start-up allowance + budgets)
  TimeLeft time_left;
  /// The worker keeps the prepared workload, and with it its memory, until a request of another kind or for another
  /// spec; the next trial that differs in nothing but its plan measures it again without a new session: its
  /// session_create_ns is 0. Not with several lanes.
  bool keep_session = false;
  /// In a worker that runs nothing else, so that what it keeps stays while other trials run. Not on a GPU.
  bool apart = false;
};

/// What a live display may show while a trial runs.
struct TrialProgress {
  schema::TrialPhase phase = schema::TrialPhase::launch;
  std::int64_t steps = 0;
  double elapsed_s = 0;
};

/// A trial and the lane that is to run it.
struct TrialJob {
  std::size_t lane = 0;
  schema::TrialSpec spec;
  TrialOptions options;
};

/// Runs work somewhere. A trial that fails is an outcome; an Error is a fault of ours or of the user's call (no worker
/// can be started at all, cancelled, out of time). One thread at a time.
class Executor {
 public:
  virtual ~Executor() = default;
  [[nodiscard]] virtual base::Result<schema::RuntimeIdentity> probe(const std::string& kind,
                                                                    const std::string& library) = 0;
  [[nodiscard]] virtual base::Result<schema::ModelDescription> inspect(const workload::InspectRequest& request) = 0;
  [[nodiscard]] virtual base::Result<schema::TrialOutcome> run_trial(const schema::TrialSpec& spec,
                                                                     const TrialOptions& options) = 0;
  /// In a fresh process, or in that of the pair before when the spec allows it.
  [[nodiscard]] virtual base::Result<schema::PairedOutcome> run_pair(const schema::PairedSpec& spec,
                                                                     const TimeLeft& time_left = {}) = 0;
  /// Runs the spec's configuration and writes its outputs; returns the drift between two runs of it (the noise floor).
  [[nodiscard]] virtual base::Result<schema::AccuracyDrift> make_reference(const schema::TrialSpec& spec,
                                                                           const std::filesystem::path& path,
                                                                           const TimeLeft& time_left = {}) = 0;
  /// What the GPU of lane 0 reaches at best, with the libraries that the runtime uses. Errors: unavailable (no GPU).
  [[nodiscard]] virtual base::Result<schema::GpuCeilings> gpu_ceilings(const std::string& kind,
                                                                       const std::string& library) = 0;
  /// What the runtime makes of the spec's model, on lane 0. Errors: unsupported (this kind, provider or executor has no
  /// such thing), and those of creating a session.
  [[nodiscard]] virtual base::Result<schema::RuntimeGraph> runtime_graph(const schema::TrialSpec& spec) {
    return base::fail(base::ErrorCode::unsupported, "no graph of \"{}\" can be read here", spec.workload.location);
  }
  /// How many trials can run side by side, each on a device of its own. Everything but run_trials is done by lane 0.
  [[nodiscard]] virtual std::size_t lanes() const { return 1; }
  /// Runs the jobs, at most one a lane, side by side; answers in their order once all have ended.
  [[nodiscard]] virtual std::vector<base::Result<schema::TrialOutcome>> run_trials(const std::vector<TrialJob>& jobs) {
    std::vector<base::Result<schema::TrialOutcome>> outcomes;
    for (const auto& job : jobs) outcomes.push_back(run_trial(job.spec, job.options));
    return outcomes;
  }
};

enum class Isolation { pooled, trial };

struct WorkerOptions {
  std::vector<std::string> command;                              ///< argv of the worker: {executable_path, "worker"}
  std::vector<std::pair<std::string, std::string>> environment;  ///< set on top of ours: which GPU it sees
  Isolation isolation = Isolation::pooled;
  double heartbeat_timeout_s = 10;  ///< no heartbeat at all for so long: the worker is stopped or swapped out
  double stall_timeout_s = 60;      ///< heartbeats but no progress for so long inside one phase: a hang
  double launch_timeout_s = 30;
  std::optional<std::uint64_t> address_space_bytes;
  std::function<void(const TrialProgress&)> on_progress;  ///< called at most 20 times a second
  std::function<bool()> cancelled;  ///< polled; true ends the running trial with ErrorCode::cancelled
  /// Of the run, in which durations and TimeLeft count: a simulated one, or the system's. Whether a worker hangs is a
  /// question of real time in any case. Must outlive the executor.
  const base::Clock* clock = &base::system_clock();
};

/// Worker processes on this machine: one long-lived worker runs many trials (pooled); any failure that may have
/// poisoned it ends it, and the next trial gets a fresh one. Workers die with the thread that called the executor, so
/// use it from a thread that lives as long as it does.
[[nodiscard]] std::unique_ptr<Executor> make_local_executor(WorkerOptions options);

/// The body of `ridgeline worker`: serves requests on file descriptors 3 (in) and 4 (out) until end of file, and tells
/// its phase and progress through shared memory on 5. Returns the exit code: 0, or 2 when no parent of ours set these
/// up.
[[nodiscard]] int worker_main(const workload::WorkloadRegistry& registry);

}  // namespace ridgeline::execute
