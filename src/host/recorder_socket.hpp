// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Also compiled into the recorder (plugins/inject): it may use the standard library alone.
//
// The idle recorder. `ridgeline profile --idle -- CMD` sets an environment in which CUDA's driver, NVTX and Python load
// libridgeline_inject.so into the processes of CMD. Without a folder for a recording the library subscribes to nothing:
// one thread waits at a Unix socket, FOLDER/PID.sock, which only the user may open; a call of NVTX is the test of one
// pointer, and Python has no hooks. `ridgeline profile --pid PID` connects and sends what is to be recorded
// (WakeRequest). The waiting thread makes a Recorder, has Python install its hooks, answers "recording", and records
// until the window is over, the client sends "stop", or the connection ends, so that a client that is killed leaves no
// recording behind. Then it removes the hooks, writes the file and answers "ended". A connection that ends without that
// word is a process that ended. One recording at a time: a second client gets "refused busy PID". Each process has its
// own socket; after a fork the child closes the parent's, and opens its own once it starts CUDA.
namespace ridgeline::host {

/// Names the folder of the sockets in the environment of a program whose recorder waits.
inline constexpr const char* kIdleVariable = "RIDGELINE_TRACE_IDLE";

// Answers of a recorder that waits, each a line.
inline constexpr std::string_view kWakeRecording = "recording";
inline constexpr std::string_view kWakeEnded = "ended";
inline constexpr std::string_view kWakeRefusedBusy = "refused busy ";      ///< and the client's process number
inline constexpr std::string_view kWakeRefusedFolder = "refused folder ";  ///< and why it cannot be written to
inline constexpr std::string_view kWakeRefusedRequest = "refused request";
/// What a client sends to end a recording.
inline constexpr std::string_view kWakeStop = "stop\n";

/// What a client asks of a recorder that waits.
struct WakeRequest {
  std::string folder;   ///< for the recording, absolute
  std::string options;  ///< as RIDGELINE_TRACE_OPTIONS

  /// Lines "key=value" and an empty one.
  [[nodiscard]] std::string text() const;
  /// Without a folder where the text is none of these.
  [[nodiscard]] static WakeRequest parse(std::string_view text);
};

/// XDG_RUNTIME_DIR/ridgeline, or /tmp/ridgeline-UID where that is not set or too long for an address.
[[nodiscard]] std::string recorder_folder();
/// Makes the folder, mode 0700, unless it is there. "": it is the user's alone; else why it cannot be used: another
/// user's, a link, open to others.
[[nodiscard]] std::string make_recorder_folder(const std::string& folder);
/// The same without making it.
[[nodiscard]] std::string check_recorder_folder(const std::string& folder);

[[nodiscard]] std::string recorder_socket(const std::string& folder, std::int64_t pid);
/// Processes that have a socket there, whether or not they still run.
[[nodiscard]] std::vector<std::int64_t> recorder_processes(const std::string& folder);

/// Opens a connection; -1 with errno: ECONNREFUSED where the process has ended, ENOENT without a socket, ENAMETOOLONG.
[[nodiscard]] int connect_recorder(const std::string& path);
/// Opens the socket of this process for clients, mode 0600; -1 with errno. Of an earlier process of that number it
/// takes the place, and removes others whose process has ended.
[[nodiscard]] int listen_as_recorder(const std::string& folder, std::int64_t pid);

}  // namespace ridgeline::host
