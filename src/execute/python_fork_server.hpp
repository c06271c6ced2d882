// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/scratch_folder.hpp"
#include "base/subprocess.hpp"

namespace ridgeline::execute {

/// A Python process that has imported torch and the user's file and forks the processes of trials
/// (python/ridgeline_infer/fork_server.py), so that not each of them imports for seconds. All processes that are
/// started by this one find it by the variable RIDGELINE_FORK_SERVER, for as long as this object lives: make it before
/// workers.
class PythonForkServer {
 public:
  /// At once, without waiting for the imports. Where it cannot be started, trials import for themselves.
  PythonForkServer(const std::string& python, const std::string& package_folder, const std::string& target);
  ~PythonForkServer();
  PythonForkServer(const PythonForkServer&) = delete;
  PythonForkServer& operator=(const PythonForkServer&) = delete;

 private:
  base::ScratchFolder folder_{"python"};
  std::optional<base::Subprocess> process_;
  std::string mark_;  ///< in the environment of all that it starts
};

}  // namespace ridgeline::execute
