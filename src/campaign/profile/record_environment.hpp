// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ridgeline::campaign {

/// Variables that make the processes of a program record themselves.
struct RecordEnvironment {
  std::vector<std::pair<std::string, std::string>> variables;
  /// The user's own CUDA_INJECTION64_PATH, which stays: CUDA loads that library in the place of ours. "": none.
  std::string other_injection;
  std::string other_nvtx_injection;  ///< likewise the user's own NVTX_INJECTION64_PATH
};

/// Whether this process is one of a program that is being recorded.
[[nodiscard]] bool is_recorded();

/// PYTHONPATH by which Python programs load our hooks; `python_folder`: of our packages.
[[nodiscard]] std::string hooked_python_path(const std::string& python_folder);

/// `options`: RecordOptions::text. `library`: the one that records, an absolute path. `python_folder`: of our packages;
/// "": Python programs do not mark their modules.
[[nodiscard]] RecordEnvironment record_environment(const std::string& folder, const std::string& library,
                                                   const std::string& python_folder, const std::string& options);

/// Variables with which they can be recorded later, as often as wanted, while they run. `folder`: of the sockets at
/// which their recorders wait.
[[nodiscard]] RecordEnvironment idle_environment(const std::string& folder, const std::string& library,
                                                 const std::string& python_folder);

}  // namespace ridgeline::campaign
