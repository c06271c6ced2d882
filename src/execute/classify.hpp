// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/subprocess.hpp"
#include "schema/trial_outcome.hpp"

namespace ridgeline::execute {

/// Why a worker is no more.
enum class DeathCause {
  ended,         ///< on its own: signal or exit
  deadline,      ///< killed: the trial took too long
  stalled,       ///< killed: alive, but no progress inside one phase
  no_heartbeat,  ///< killed: stopped or swapped out
  protocol,      ///< killed: it sent what no worker of ours sends
};

struct WorkerDeath {
  DeathCause cause = DeathCause::ended;
  base::ExitStatus exit;  ///< of the process; a kill of ours shows here as signal 9
  schema::TrialPhase phase = schema::TrialPhase::launch;
  schema::Message message;
  std::string stderr_tail;
  bool oom_killed = false;  ///< the kernel's out-of-memory killer was seen at work
};

/// The status of a trial whose runtime reported `error`. Allocation failures are recognised by their texts as well,
/// because runtimes report them under general codes.
[[nodiscard]] schema::TrialStatus status_of(const base::Error& error);

/// The failure record of such a trial.
[[nodiscard]] schema::Failure failure_of(const base::Error& error, schema::TrialPhase phase);

[[nodiscard]] schema::TrialStatus status_of(const WorkerDeath& death);
[[nodiscard]] schema::Failure failure_of(const WorkerDeath& death);
/// The same as an Error, for requests that are not trials.
[[nodiscard]] base::Error error_of(const WorkerDeath& death);

/// A worker that returned this outcome may run the next trial: nothing of the runtime's state can be damaged.
[[nodiscard]] bool leaves_worker_usable(schema::TrialStatus status) noexcept;

/// "SIGSEGV", or "signal 99".
[[nodiscard]] std::string signal_name(int signal);

}  // namespace ridgeline::execute
