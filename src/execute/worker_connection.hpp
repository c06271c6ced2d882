// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "base/error.hpp"
#include "base/subprocess.hpp"
#include "execute/classify.hpp"
#include "execute/output_tail.hpp"
#include "execute/wire_frame.hpp"
#include "execute/worker_jobs.hpp"
#include "execute/worker_status.hpp"

namespace ridgeline::execute {

/// The parent's end of one worker process. Use: launch, then one `exchange` after another; after a WorkerDeath or an
/// Error the object is of no more use. The process and its group are gone when the destructor returns. One thread.
class WorkerConnection {
 public:
  /// An answer, or how the worker died over the request.
  using Reply = std::variant<WireFrame, WorkerDeath>;

  /// Starts the worker and checks that it is of our version. Errors: the program cannot be started, it dies or says
  /// nothing within launch_timeout_s, it is of another version, cancelled. `options` must outlive the object.
  [[nodiscard]] static base::Result<std::unique_ptr<WorkerConnection>> launch(const WorkerOptions& options);
  ~WorkerConnection();
  WorkerConnection(const WorkerConnection&) = delete;
  WorkerConnection& operator=(const WorkerConnection&) = delete;

  /// Sends a request and waits for its answer; stdout and stderr are drained all the while. Errors: cancelled and
  /// out_of_time only.
  [[nodiscard]] base::Result<Reply> exchange(const WireFrame& request, double deadline_s, const TimeLeft& time_left);

  /// A process outside its group that works for it, with the group that it leads, if any: stands still with it.
  void comes_with(pid_t outside) noexcept { outside_ = outside; }
  [[nodiscard]] pid_t outside() const noexcept { return outside_; }  ///< 0: none
  /// Stops the process, its group and what comes with it, and returns when they stand still (or after a second, where
  /// the kernel holds them). The next exchange lets them go on.
  void pause();
  /// All pauses together.
  struct Pauses {
    double wall_s = 0;
    double cpu_s = 0;  ///< processor time that was used in them, which should be none
  };
  [[nodiscard]] Pauses pauses() const;

  /// The process has not ended, as far as is known without waiting.
  [[nodiscard]] bool alive();
  /// What the worker printed during the latest request.
  [[nodiscard]] std::string output_tail();
  [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }
  /// Processor time of the process and of what comes with it, so far; nullopt: one of them has ended.
  [[nodiscard]] std::optional<double> cpu_s() const;
  /// Whether a request has brought it to a GPU, where it keeps a context until it ends.
  [[nodiscard]] bool on_gpu() const noexcept { return on_gpu_; }
  void came_to_gpu() noexcept { on_gpu_ = true; }

 private:
  using Time = std::chrono::steady_clock::time_point;

  /// Signs of life over one request.
  struct Watch {
    Time begun;
    base::Nanoseconds run_begun{};  ///< on the run's clock
    Time deadline;
    Time last_beat;
    Time last_progress;
    Time last_sign;  ///< of progress, or of work in any phase
    Time last_report;
    std::uint64_t beats = 0;
    std::int64_t steps = 0;
    std::int64_t cpu_ns = 0;       ///< at last_progress
    std::int64_t sign_cpu_ns = 0;  ///< at last_sign
    schema::TrialPhase phase = schema::TrialPhase::launch;
  };

  WorkerConnection(const WorkerOptions& options, base::Subprocess process, SharedStatus status, int socket);
  [[nodiscard]] base::Result<void> greet();
  [[nodiscard]] base::Result<Reply> wait_for_reply(std::string bytes, double deadline_s, const TimeLeft& time_left);
  /// Sends what fits of `bytes`, receives what is there. False at end of file or when the worker does not listen.
  bool transfer(std::string& bytes, short events);
  bool receive();
  /// Reads the signs of life.
  void look(Watch& watch, Time now) const;
  [[nodiscard]] std::optional<WorkerDeath> overdue(const Watch& watch, Time now);
  /// Why the request ends now that the run's time is over; nothing while there is some left.
  [[nodiscard]] std::optional<std::string> out_of_time(const Watch& watch, Time now, const TimeLeft& time_left) const;
  void report(Watch& watch, Time now) const;
  void resume();
  void signal(int number) noexcept;
  [[nodiscard]] Pauses clocks() const;
  [[nodiscard]] WorkerDeath killed(DeathCause cause, schema::Message message);
  [[nodiscard]] WorkerDeath ended();

  const WorkerOptions& options_;
  base::Subprocess process_;
  SharedStatus status_;
  int socket_;
  WireFrameReader reader_;
  OutputTail tail_;
  std::string mark_;  ///< in the environment of all that the worker starts
  bool output_open_ = true;
  bool on_gpu_ = false;
  pid_t outside_ = 0;  ///< 0: none
  bool paused_ = false;
  Pauses before_pause_;  ///< the clocks then
  Pauses pauses_;        ///< those that are over
  std::optional<std::int64_t> oom_kills_before_;
};

}  // namespace ridgeline::execute
