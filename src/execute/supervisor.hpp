// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/message.hpp"

namespace ridgeline::execute {

/// What a supervisor tells when its command has ended and nothing of it is left.
struct SupervisorReport {
  schema::Message launch_error;  ///< the command could not be started; empty otherwise
  std::optional<int> exit_code;
  std::optional<int> signal;
  double wall_s = 0;                       ///< of the command, start to end
  double cpu_s = 0;                        ///< user and system, of everything that it started and that has ended
  std::int64_t peak_rss_bytes = 0;         ///< of its largest process; 0: below what this process needs itself
  std::optional<std::int64_t> read_bytes;  ///< from storage, all processes
  std::optional<std::int64_t> write_bytes;
  int left_behind = 0;  ///< processes that were still there when the command ended by itself
  int survivors = 0;    ///< that even SIGKILL did not end (held by the kernel)
};
RL_DECLARE_JSON(SupervisorReport)

/// The number of the socket that a supervisor inherits.
inline constexpr int kSupervisorSocket = 3;

/// The body of a process that runs one command in a session of its own and is the reaper of everything that it starts,
/// however deep and however detached. A byte on the socket asks to end it all: SIGTERM, 2 s later SIGKILL. The other
/// end's closing (the parent died) does the same with half a second. When the command has ended, whatever it left
/// behind is ended too; then one line of JSON (SupervisorReport) goes to the socket. To be called in a process without
/// threads and children. Returns the process's exit code.
[[nodiscard]] int supervise(const std::vector<std::string>& command);

}  // namespace ridgeline::execute
