// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ridgeline::trace {

/// What python/ridgeline_profile says of a session of ONNX Runtime (PID.sessionN), which it had profiled.
struct SessionProfile {
  std::int64_t process = 0;
  std::string model;           ///< "vit.onnx": ranges around its runs are "run of vit.onnx"
  std::int64_t start_ns = 0;   ///< zero of the profile, on the recorder's clock
  std::int64_t set_by_ns = 0;  ///< how far the clock of the profile was set meanwhile
  bool replays_graph = false;  ///< the session may replay CUDA graphs
  std::string why;             ///< it has no profile; "" if it has one
  std::filesystem::path file;  ///< that ONNX Runtime wrote; empty: none, as of a process that was killed
};

/// Of all sessions that left something in the folder of a recording, by process and number.
[[nodiscard]] std::vector<SessionProfile> find_session_profiles(const std::filesystem::path& folder);

}  // namespace ridgeline::trace
