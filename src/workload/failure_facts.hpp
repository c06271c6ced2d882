// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "schema/training_trial.hpp"

namespace ridgeline::workload {

/// An exception that another one came from: by `raise ... from`, or raised while it was being handled.
struct FailureCause {
  std::string type;
  std::vector<std::string> bases;
  std::string message;
  std::optional<int> cuda_error;
  std::optional<int> system_error;
};
RL_DECLARE_JSON(FailureCause)

/// What is known about a failed step or a dead training process, before any judgement.
struct FailureFacts {
  std::string type;                ///< the exception's type, "" for a death
  std::vector<std::string> bases;  ///< the types it derives from
  std::string message;
  std::optional<int> cuda_error;           ///< cudaError_t, where the exception carries one
  std::optional<std::int64_t> ooms_risen;  ///< growth of the allocator's count of failed allocations during the call
  std::optional<int> exit_code;            ///< of a dead process
  std::optional<int> signal;
  bool kernel_oom_kill = false;           ///< the control group's count of out-of-memory kills rose meanwhile
  bool bad_settings = false;              ///< the adapter refused the settings
  bool user_error = false;                ///< no settings will fix it: missing module, function, package or device
  std::optional<int> system_error = {};   ///< errno of an OSError
  std::vector<FailureCause> causes = {};  ///< nearest first
  std::string hint = {};                  ///< of an error of ours: what to do next
  std::vector<std::string> traceback{};   ///< of the user's own code, the outermost call first
  std::string place{};                    ///< where in the user's own code it was raised: "train.py:12 in forward"
  std::string came_from{};  ///< "OSError: truncated": the first of its causes that was raised in the user's own code
};
RL_DECLARE_JSON(FailureFacts)

/// What went wrong in a step. The code out_of_memory comes only together with its evidence; `timeout` and
/// `crashed` are of runners in a process of their own, which the last fields tell about.
struct StepError {
  base::Error error;
  schema::OomEvidence oom = schema::OomEvidence::none;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string output_tail;  ///< what the process wrote last, at most 4 KiB
};

/// By which evidence this is an out-of-memory failure, best first: exception type, CUDA error code, allocator counter,
/// exit status, text; `none`: it is not one. A SIGKILL counts only together with the kernel's own count of such kills:
/// a batch system's kill looks the same otherwise. Texts are whole phrases of known allocators. A failure that came
/// from a shortage of memory is one, whatever type it was raised again as, unless it is an error of the device's own.
/// See the table in docs/bench.md.
[[nodiscard]] schema::OomEvidence oom_evidence(const FailureFacts& facts);

/// The type of the C++ exception that nobody caught, by what the C++ runtime wrote before it aborted; "" for none.
[[nodiscard]] std::string uncaught_type(std::string_view output);

/// The facts as an error: out_of_memory, invalid_argument, not_found, crashed, or internal for everything else.
[[nodiscard]] StepError judge_failure(const FailureFacts& facts);

}  // namespace ridgeline::workload
