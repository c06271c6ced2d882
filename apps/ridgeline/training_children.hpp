// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "execute/json_child.hpp"
#include "schema/training_trial.hpp"

namespace ridgeline::app {

/// Terms for asking a process: the deadline, and a callback that receives the phase it is in.
struct ChildTerms {
  std::optional<execute::RunDeadline> deadline = {};
  std::function<void(const std::string& doing, double waited_s)> waiting = {};
  std::filesystem::path logs = {};  ///< folder for the output of a script's runs; "": not kept
};

/// Importing torch from a cold network file system takes minutes.
inline constexpr double kDescribeLimitS = 300;

/// Whether Python trains a native job, and not the LibTorch plugin.
[[nodiscard]] inline bool trains_in_python(const schema::TrainingJob& job) noexcept {
  return job.kind == "native" && !job.python.empty();
}

/// A process of the user's own training (python/ridgeline_train).
[[nodiscard]] base::Result<execute::JsonChildOptions> user_child(const std::string& interpreter,
                                                                 const ChildTerms& terms);
/// A process of the built-in models in Python (python/ridgeline_models).
[[nodiscard]] base::Result<execute::JsonChildOptions> models_child(const std::string& interpreter,
                                                                   const ChildTerms& terms);
/// A process of the built-in models in the LibTorch plugin; `plugin`: --torch-plugin or "".
[[nodiscard]] base::Result<execute::JsonChildOptions> plugin_child(const std::string& plugin, const ChildTerms& terms);
/// A process that looks at data files only.
[[nodiscard]] execute::JsonChildOptions data_child(const ChildTerms& terms);
/// The process that trains a job of kind "python" or "native".
[[nodiscard]] base::Result<execute::JsonChildOptions> training_child(const schema::TrainingJob& job,
                                                                     const std::string& plugin,
                                                                     const ChildTerms& terms);

}  // namespace ridgeline::app
