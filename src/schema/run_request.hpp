// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace ridgeline::schema {

/// What a run of any kind was asked for. These are values: the arguments are for people and for another try, and nobody
/// looks for flags among them.
struct RunRequest {
  std::vector<std::string> arguments;  ///< as typed, behind "ridgeline"
  std::string config_path;             ///< the file of settings given, absolute and normal; "": none. As typed in runs
                                       ///< of before store schema 4 that knew no more
  std::vector<std::string> outputs;    ///< files that reports were to be written to
  std::string devices;                 ///< GPUs to use, as typed; "": not told
  bool watch = false;                  ///< asked by `ridgeline watch`
  bool use_store = true;               ///< false (--fresh): measure again even what the store knows
  /// Of the whole run. What still runs when it is over is ended and not kept: that says nothing of its settings.
  std::optional<std::chrono::nanoseconds> max_time;
};

/// The arguments in one line that a shell reads back as the same words: for people only.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& arguments);

}  // namespace ridgeline::schema

/// The members of RunRequest, for RL_DEFINE_JSON of a kind's own.
#define RL_RUN_REQUEST arguments, config_path, outputs, devices, watch, use_store, max_time
