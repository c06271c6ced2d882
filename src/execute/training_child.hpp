// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/subprocess.hpp"
#include "execute/output_tail.hpp"
#include "workload/training/step_runner.hpp"

namespace ridgeline::execute {

struct TrainingChildOptions {
  std::vector<std::string> command;                              ///< argv
  std::vector<std::pair<std::string, std::string>> environment;  ///< on top of ours
  std::function<bool()> cancelled;                               ///< polled while an answer is waited for
  /// The kernel's count of out-of-memory kills; unset: host::oom_kills.
  std::function<std::optional<std::int64_t>()> kernel_kills = {};
};

/// A step runner in a process of its own, killed with all that it started, also what made itself a session of its own
/// (execute::end_detached). Requests and answers are JSON
/// lines on one socket, whose number in the child is in RIDGELINE_TRAIN_FD; the child's output is kept for failure
/// records only:
///   {"op":"describe","target":T}                  -> {"ok":{"runtime":..., "source_sha256":...}}
///   {"op":"prepare","spec":TrainingTrialSpec}     -> {"ok":{}}
///   {"op":"run","steps":N}                        -> {"ok":{"steps":[[7 numbers, schema::StepPhases in
///   order]..],"wall_ms":..}}, with "samples":N where each batch was seen to hold what was set
///   {"op":"reset"}                                -> {"ok":{}}
///   {"op":"resources"}                            -> {"ok":TrainingResources, with "loss_not_finite":true for a NaN
///   loss}
///   {"op":"transforms"}                           -> {"ok":{"sample_ms":.., "transforms":[[name, ms]..]}}, after
///   prepare
///   {"op":"release"}                              -> {"ok":{"kept":true}}: the trial is over and nothing is left of
///   it, another may be prepared; false, or an error from a child that does not know it: it may not
///   {"op":"close"}                                -> {"ok":{}}, then the child ends
/// or {"error":workload::FailureFacts} to any of them.
class TrainingChild final : public workload::StepRunner {
 public:
  explicit TrainingChild(TrainingChildOptions options) : options_(std::move(options)) {}
  ~TrainingChild() override;
  TrainingChild(const TrainingChild&) = delete;
  TrainingChild& operator=(const TrainingChild&) = delete;

  /// One request before any trial; starts the process when there is none.
  [[nodiscard]] workload::StepResult<base::Json> ask(const base::Json& request, double limit_s);

  [[nodiscard]] workload::StepResult<void> prepare(const schema::TrainingTrialSpec& spec) override;
  [[nodiscard]] workload::StepResult<workload::StepWindow> run(std::int64_t steps) override;
  [[nodiscard]] workload::StepResult<void> reset_peaks() override;
  [[nodiscard]] workload::StepResult<schema::TrainingResources> resources() override;
  void close() noexcept override;
  /// Asks the process to be ready for another trial. When it cannot, it is ended.
  [[nodiscard]] bool renew() noexcept override;

 private:
  [[nodiscard]] base::Result<void> start();
  [[nodiscard]] workload::StepResult<std::string> receive(double limit_s);
  [[nodiscard]] workload::StepError died();
  [[nodiscard]] workload::StepError killed(base::ErrorCode code, std::string message);
  [[nodiscard]] bool send(const std::string& line) const;
  [[nodiscard]] std::optional<std::int64_t> kernel_kills() const;
  [[nodiscard]] bool kernel_has_killed() const;
  void end() noexcept;

  TrainingChildOptions options_;
  std::optional<base::Subprocess> process_;
  int socket_ = -1;
  std::string buffer_;
  OutputTail output_;
  std::optional<std::int64_t> oom_kills_before_;
  schema::TrainingPlan plan_;
  std::int64_t batch_ = 0;
  std::string mark_;  ///< in the environment of all that the process starts
};

}  // namespace ridgeline::execute
