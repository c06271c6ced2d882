// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/subprocess.hpp"

namespace ridgeline::execute {

/// A Python process that has imported torch and the user's file and forks a process for each trial
/// (python/ridgeline_infer/fork_server.py), so that not every trial waits for imports. Started by the first connect();
/// ends with this object. One thread.
class PythonForkServer {
 public:
  /// `package_folder` holds the package ridgeline_infer; `environment` is set on top of ours.
  PythonForkServer(const std::string& python, const std::string& package_folder, const std::string& target,
                   std::vector<std::pair<std::string, std::string>> environment)
      : command_{python, "-m", "ridgeline_infer.fork_server", target},
        relay_{python, "-S", "-E", package_folder + "/ridgeline_infer/fork_relay.py"},
        environment_(std::move(environment)) {}
  ~PythonForkServer();
  PythonForkServer(const PythonForkServer&) = delete;
  PythonForkServer& operator=(const PythonForkServer&) = delete;

  /// A socket for a relay, which the server knows of; the caller closes it. Errors: io, and those of
  /// Subprocess::spawn.
  [[nodiscard]] base::Result<int> connect();
  /// What stands for the process that is forked: it finds that socket by the number in RIDGELINE_FORK_FD. The command
  /// of the process without a server follows.
  [[nodiscard]] const std::vector<std::string>& relay() const noexcept { return relay_; }

 private:
  [[nodiscard]] base::Result<void> start();

  std::vector<std::string> command_;
  std::vector<std::string> relay_;
  std::vector<std::pair<std::string, std::string>> environment_;
  std::optional<base::Subprocess> process_;
  int control_ = -1;
};

}  // namespace ridgeline::execute
