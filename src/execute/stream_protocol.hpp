// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ridgeline::execute {

/// Between `ridgeline stream` and the process that runs its pipeline. The parent writes a StreamSpec as one line of
/// JSON, later perhaps kStopWord; the child writes lines that begin with one of these, and then JSON.
namespace stream_line {
inline constexpr char kLoaded = 'L';  ///< {"runtime","input"}: the model is loaded, and frames are awaited
inline constexpr char kReady = 'R';   ///< schema::StreamReady
inline constexpr char kFrame = 'F';   ///< a result or gap, as it goes to the output
inline constexpr char kStatus = 'S';  ///< schema::StreamStatus, five a second
inline constexpr char kNote = 'N';    ///< schema::Message
inline constexpr char kError = 'E';   ///< {"code","message","hint"}; the last line
inline constexpr char kDone = 'D';    ///< schema::StreamStatus; the last line
}  // namespace stream_line

inline constexpr const char* kStopWord = "stop\n";
inline constexpr int kStreamFd = 3;        ///< both ways
inline constexpr int kStreamCountsFd = 4;  ///< StreamCounts
inline constexpr int kStreamInputFd = 5;   ///< what "-" reads
inline constexpr std::size_t kMostSources = 1024;

/// In memory that both see: after the child's sudden death the parent still knows which frames had come in.
struct StreamCounts {
  std::array<std::atomic<std::uint64_t>, kMostSources> taken{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace ridgeline::execute
