// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/subprocess.hpp"
#include "execute/output_tail.hpp"
#include "workload/training/step_runner.hpp"

namespace ridgeline::execute {

/// The end of the whole run's time: a request that has no answer by then is given up, whatever its own limit.
struct RunDeadline {
  base::Nanoseconds at{0};  ///< by base::system_clock()
  std::string text;         ///< "--max-time 20s was over"
};

struct JsonChildOptions {
  std::vector<std::string> command;                              ///< argv
  std::vector<std::pair<std::string, std::string>> environment;  ///< on top of ours
  std::function<bool()> cancelled;                               ///< polled while an answer is waited for
  /// The kernel's count of out-of-memory kills; unset: host::oom_kills.
  std::function<std::optional<std::int64_t>()> kernel_kills = {};
  std::string what = "the training process";  ///< for messages
  std::optional<RunDeadline> deadline = {};
  double close_limit_s = 2;        ///< for a polite end; the group is killed afterwards
  std::filesystem::path log = {};  ///< all that the process writes; empty: only the end is kept
  /// Called now and then while an answer is waited for: the phase that the process last told ("": none) and how long it
  /// has been waited for.
  std::function<void(const std::string& doing, double waited_s)> waiting = {};
};

/// A process that answers one request at a time, killed with all that it started, also what made itself a session of
/// its own (execute::end_detached). Requests and answers are JSON lines on one socket, whose number in the child is in
/// RIDGELINE_CHANNEL_FD; the child's output is kept for failure records only. An answer is {"ok":...} or
/// {"error":workload::FailureFacts}. Before it may come {"doing":"importing train.py"}: the phase that an error names
/// when there is no answer in time. A child that tells phases is asked by SIGUSR1 where it is before it is killed, and
/// says {"doing":..,"at":"train.py:12 in make"}.
class JsonChild {
 public:
  explicit JsonChild(JsonChildOptions options) : options_(std::move(options)) {}
  ~JsonChild();
  JsonChild(const JsonChild&) = delete;
  JsonChild& operator=(const JsonChild&) = delete;

  /// One request; starts the process when there is none. A process that does not answer as it should is ended.
  [[nodiscard]] workload::StepResult<base::Json> ask(const base::Json& request, double limit_s);
  /// Ends a process whose answer makes no sense.
  [[nodiscard]] workload::StepError reject(base::Error error);
  [[nodiscard]] bool is_running() const noexcept { return process_.has_value(); }
  /// The same, and that it has not ended since the last answer.
  [[nodiscard]] bool lives() { return process_ && !process_->poll(); }
  /// -1 where none runs.
  [[nodiscard]] pid_t pid() const noexcept { return process_ ? process_->pid() : -1; }
  /// What the process wrote and the kernel killed so far does not count.
  void forget_past();
  /// Politely first.
  void close() noexcept;

 private:
  [[nodiscard]] base::Result<void> start();
  struct Waiting;
  /// The next line of the child, an answer or not.
  [[nodiscard]] workload::StepResult<std::string> receive(const Waiting& waiting);
  [[nodiscard]] std::optional<std::string> buffered_line();
  /// Reads what there is within `poll_ms`. False: the connection has broken.
  [[nodiscard]] bool read_more(int poll_ms);
  [[nodiscard]] workload::StepError late(const Waiting& waiting);
  /// Whether the line was a phase.
  bool take_phase(const base::Result<base::Json>& line);
  /// ", in phase ..." with the line of code that it is at.
  [[nodiscard]] std::string where_it_is();
  [[nodiscard]] workload::StepError died();
  [[nodiscard]] bool send(const std::string& line) const;
  [[nodiscard]] std::optional<std::int64_t> kernel_kills() const;
  [[nodiscard]] bool kernel_has_killed() const;
  void wait_for_end() noexcept;
  void end() noexcept;

  JsonChildOptions options_;
  std::optional<base::Subprocess> process_;
  int socket_ = -1;
  std::string buffer_;
  std::string doing_;  ///< the phase that it told last
  std::string at_;     ///< where in the user's code
  bool tells_phases_ = false;
  OutputTail output_;
  std::optional<std::int64_t> oom_kills_before_;
  std::string mark_;  ///< in the environment of all that the process starts
};

}  // namespace ridgeline::execute
