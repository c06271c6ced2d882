// SPDX-License-Identifier: Apache-2.0
#pragma once

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

struct JsonChildOptions {
  std::vector<std::string> command;                              ///< argv
  std::vector<std::pair<std::string, std::string>> environment;  ///< on top of ours
  std::function<bool()> cancelled;                               ///< polled while an answer is waited for
  /// The kernel's count of out-of-memory kills; unset: host::oom_kills.
  std::function<std::optional<std::int64_t>()> kernel_kills = {};
  std::string what = "the training process";  ///< for messages
};

/// A process that answers one request at a time, killed with all that it started, also what made itself a session of
/// its own (execute::end_detached). Requests and answers are JSON lines on one socket, whose number in the child is in
/// RIDGELINE_TRAIN_FD; the child's output is kept for failure records only. An answer is {"ok":...} or
/// {"error":workload::FailureFacts}.
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
  /// -1 where none runs.
  [[nodiscard]] pid_t pid() const noexcept { return process_ ? process_->pid() : -1; }
  /// What the process wrote and the kernel killed so far does not count.
  void forget_past();
  /// Politely first.
  void close() noexcept;

 private:
  [[nodiscard]] base::Result<void> start();
  [[nodiscard]] workload::StepResult<std::string> receive(double limit_s);
  [[nodiscard]] workload::StepError died();
  [[nodiscard]] bool send(const std::string& line) const;
  [[nodiscard]] std::optional<std::int64_t> kernel_kills() const;
  [[nodiscard]] bool kernel_has_killed() const;
  void end() noexcept;

  JsonChildOptions options_;
  std::optional<base::Subprocess> process_;
  int socket_ = -1;
  std::string buffer_;
  OutputTail output_;
  std::optional<std::int64_t> oom_kills_before_;
  std::string mark_;  ///< in the environment of all that the process starts
};

}  // namespace ridgeline::execute
