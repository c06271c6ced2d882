// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::execute {

/// How a command ended that ran before the user in our place.
struct AttachedEnd {
  int exit_code = 0;            ///< as a shell has it: 128 and the signal's number where one ended it
  int signal = 0;               ///< that ended it; 0: none
  bool is_interrupted = false;  ///< SIGINT or SIGTERM came
  bool is_left = false;         ///< ... and again: the command may still run
};

/// What a shell returns for a command that it cannot start.
inline constexpr int kNotFound = 127;
inline constexpr int kNotExecutable = 126;

/// Whether a shell would start this program: 0, kNotFound or kNotExecutable.
[[nodiscard]] int start_code(const std::string& program);

/// Runs a command with our terminal and standard input, output and error (SubprocessOptions::attached), and waits for
/// it. SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are passed on when they were sent to us alone; those of
/// our process group, as Ctrl-C, reach the command by themselves. A second SIGINT or SIGTERM ends the wait. Other
/// threads must block signals meanwhile, or they would get them; `every_second` is called about as often in this one.
/// Errors: those of Subprocess::spawn.
[[nodiscard]] base::Result<AttachedEnd> run_attached(
    const std::vector<std::string>& argv, const std::vector<std::pair<std::string, std::string>>& environment,
    const std::function<void()>& every_second = {});

}  // namespace ridgeline::execute
