// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/json.hpp"
#include "workload/failure_facts.hpp"
#include "workload/training/step_runner.hpp"

namespace ridgeline::execute {

inline constexpr std::size_t kLongestLine = std::size_t{64} << 20U;  ///< bytes of one message, in either direction

/// The other end of TrainingChild's socket: serves trials, one after another, with a step runner of this process. One
/// thread.
class TrainingServer {
 public:
  /// Answers "describe"; the request as it came.
  using Describe = std::function<workload::StepResult<base::Json>(const base::Json& request)>;

  TrainingServer(workload::StepRunner& runner, Describe describe) : runner_(runner), describe_(std::move(describe)) {}

  /// Until "close", or until the other end has gone. Errors: corrupt (a line that is no request), io.
  [[nodiscard]] base::Result<void> serve(int socket);

 private:
  [[nodiscard]] workload::StepResult<base::Json> answer(const base::Json& request);
  [[nodiscard]] workload::StepResult<base::Json> prepare(const base::Json& request);
  [[nodiscard]] workload::StepResult<base::Json> release();
  [[nodiscard]] workload::StepResult<base::Json> run(const base::Json& request);
  [[nodiscard]] workload::StepResult<base::Json> reset();
  [[nodiscard]] workload::StepResult<base::Json> resources();

  workload::StepRunner& runner_;
  Describe describe_;
  bool prepared_ = false;
  bool on_cpu_ = false;
};

/// A step's error as facts that workload::judge_failure makes the same error of.
[[nodiscard]] workload::FailureFacts facts_of(const workload::StepError& error);

}  // namespace ridgeline::execute
