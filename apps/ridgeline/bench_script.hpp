// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "ridgeline/bench_runners.hpp"
#include "schema/training_settings.hpp"
#include "schema/training_trial.hpp"

namespace ridgeline::app {

/// What the first run of a training script shows, in which nothing is changed.
struct ScriptFacts {
  std::string runtime;        ///< "torch 2.11.0+cu130 (cuda 13.0), Python 3.11.2"
  std::string source_sha256;  ///< of the script's file
  std::string device;         ///< that its model is on: "cpu", "cuda:0"
  bool cuda = false;          ///< its torch was built for CUDA
  schema::TrainingSettings settings;
  std::optional<std::int64_t> samples;         ///< of its data set
  std::optional<double> learning_rate;         ///< of its only optimizer
  std::string loaders;                         ///< which of its DataLoaders train: for the trials
  std::map<std::string, std::string> fixed;    ///< settings that cannot be changed from outside, and why
  std::map<std::string, std::string> refused;  ///< levers that have no effect on it, and why
};

/// Of a script's job: the folder that it runs in. Its target is the command line.
inline constexpr const char* kScriptFolder = "ridgeline_folder";

/// A script's options are levers. Errors: invalid_argument, naming those there are.
[[nodiscard]] base::Result<void> check_script_option(const std::string& name);

/// A process that runs the job's command with our hooks.
[[nodiscard]] base::Result<execute::JsonChildOptions> script_child(const schema::TrainingJob& job,
                                                                   const ChildTerms& terms);

/// Runs the script until its first training steps. Errors, one line each: no such program, a script that fails, hangs,
/// or trains nothing.
[[nodiscard]] base::Result<ScriptFacts> describe_script(
    const schema::TrainingJob& job, const ChildTerms& terms,
    const std::vector<std::pair<std::string, std::string>>& environment);

/// "003-batch64-workers2-bf16-pinned.log"
[[nodiscard]] std::string script_log_name(int number, const schema::TrainingTrialSpec& spec);

/// Copies the current folder. Errors: invalid_argument (there is something at `copy`), io (a full disk).
[[nodiscard]] base::Result<void> copy_work_folder(const std::filesystem::path& copy);

}  // namespace ridgeline::app
