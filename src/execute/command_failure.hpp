// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "execute/command_runner.hpp"
#include "schema/trial_outcome.hpp"

namespace ridgeline::execute {

struct CommandFailure {
  schema::TrialStatus status = schema::TrialStatus::failed;
  schema::Failure failure;
};

/// What a command that did not end with exit code 0 died of: timeout, out_of_memory (an exception type or phrase of
/// known allocators at the end of its output, or SIGKILL together with the kernel's own count of such kills), crashed
/// (a signal, or 128 + a signal as shells report it) or failed. `tail` is the end of its output, cleaned.
[[nodiscard]] CommandFailure judge_command(const CommandResult& result, double limit_s, const std::string& tail);

/// "RuntimeError" and "shapes differ" of the last line that looks like an uncaught exception ("RuntimeError: shapes
/// differ", "terminate called after throwing an instance of 'std::bad_alloc'"); two empty texts when there is none.
struct PrintedException {
  std::string type;
  std::string message;
};
[[nodiscard]] PrintedException printed_exception(std::string_view output);

}  // namespace ridgeline::execute
