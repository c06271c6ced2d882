// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace ridgeline::execute {

/// Of the environment: the path of the socket of the server that forks the processes of Python trials, its process
/// number, and the script that stands for such a process.
inline constexpr const char* kForkServerVariable = "RIDGELINE_FORK_SERVER";
inline constexpr const char* kForkServerPidVariable = "RIDGELINE_FORK_SERVER_PID";
inline constexpr const char* kForkRelayVariable = "RIDGELINE_FORK_RELAY";
/// Of the environment of such a script: what was prepared under that key is to go on in its place.
inline constexpr const char* kAheadKeyVariable = "RIDGELINE_AHEAD_KEY";

/// What goes before the command of a Python process, so that it is forked where there is a server. Empty: there is
/// none.
[[nodiscard]] std::vector<std::string> fork_relay(const std::string& python);

/// What the server (python/ridgeline_infer/fork_server.py) answers to one line of JSON. nullopt: there is none, or it
/// does not answer within 30 s (it imports torch first).
[[nodiscard]] std::optional<base::Json> ask_fork_server(const base::Json& request);

/// While it lives, what the server prepares ahead stands still: the GPU and the CPUs belong to what is timed. Without a
/// server it is nothing.
class StandStill {
 public:
  StandStill() = default;
  ~StandStill() { end(); }
  StandStill(StandStill&& other) noexcept { *this = std::move(other); }
  StandStill& operator=(StandStill&& other) noexcept;

  /// Returns once nothing moves and the GPU has done what it had been given.
  [[nodiscard]] static StandStill begin();
  void end() noexcept;
  /// Processes that stand still and have a CUDA context.
  [[nodiscard]] int on_gpu() const noexcept { return on_gpu_; }

 private:
  int connection_ = -1;
  int on_gpu_ = 0;
};

}  // namespace ridgeline::execute
