// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::execute {

/// How the recording of a running process ended.
struct WokenEnd {
  bool is_interrupted = false;  ///< we were asked to stop (base::cancel_requested)
  bool process_ended = false;   ///< before the recording was over; what it recorded until then is there
  bool is_lost = false;         ///< the connection ended, and the process goes on
};

/// The recorder that waits in a running process (host/recorder_socket.hpp), from outside of it.
///   RL_TRY_ASSIGN(const auto recorder, IdleRecorder::find(pid));
///   RL_TRY_ASSIGN(const auto end, recorder.record(folder, "duration_s=5"));
class IdleRecorder {
 public:
  /// Errors: not_found (no such process, or none that waits in it, with how to start one), unavailable (another user's
  /// process).
  [[nodiscard]] static base::Result<IdleRecorder> find(std::int64_t pid);

  [[nodiscard]] std::int64_t pid() const noexcept { return pid_; }
  /// The arguments of the process.
  [[nodiscard]] const std::vector<std::string>& command() const noexcept { return command_; }
  /// The folder that the process runs in; "": not known.
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }

  /// Wakes it, and returns once the recording is over and written to `folder`, an absolute path. `options`: as the
  /// recording library reads them. A request to stop ends the recording; the process
  /// goes on. `every_second` is called about as often. Errors: unavailable (another recording goes on, no recorder
  /// answers), io (the process cannot write to the folder), cancelled before it began.
  [[nodiscard]] base::Result<WokenEnd> record(const std::string& folder, const std::string& options,
                                              const std::function<void()>& every_second = {}) const;

 private:
  std::int64_t pid_ = 0;
  std::string socket_;
  std::vector<std::string> command_;
  std::string directory_;
};

/// Names the folder of the sockets in the environment of a program whose recorder waits.
[[nodiscard]] std::string idle_variable();
/// The usual folder of sockets, made unless it is there. Errors: unavailable (it cannot be made, or is not this user's
/// alone).
[[nodiscard]] base::Result<std::string> make_idle_folder();

/// Processes of this user in which a recorder waits, by the usual folder of sockets.
[[nodiscard]] std::vector<std::int64_t> idle_recorders();

}  // namespace ridgeline::execute
