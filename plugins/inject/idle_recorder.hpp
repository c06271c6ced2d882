// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ridgeline::inject {

/// The recorder of a process that waits to be woken; host/recorder_socket.hpp has its design. A process has at most
/// one, whose thread and socket live as long as the process.
class IdleRecorder {
 public:
  /// What Python does for a recording.
  enum class HookStage : std::int32_t {
    removed = 0,    ///< after it
    installed = 1,  ///< once it records
    prepared = 2,   ///< before it: what takes long, and changes nothing of the program
  };
  /// A HookStage, and the options of the recording; on the thread that waits.
  using Hooks = void (*)(std::int32_t stage, const char* options);

  /// Whether the process was started to wait.
  [[nodiscard]] static bool is_wanted();
  /// Waits at the socket from now on, if that is wanted. `has_cuda`: CUDA has started. Any thread.
  static void start(bool has_cuda);
  /// nullptr: none, as Python ends; returns once those that run are through, so Python's lock must be given up.
  static void set_hooks(Hooks hooks);
};

}  // namespace ridgeline::inject
