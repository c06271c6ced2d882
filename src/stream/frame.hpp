// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ridgeline::stream {

/// A ticket for one frame; the pixels stay with the caller, under `payload`. Times are nanoseconds of the clock that
/// the caller passes as `now`.
struct Frame {
  std::uint32_t source = 0;      ///< sources are numbered from 0 without gaps
  std::uint64_t sequence = 0;    ///< within its source, from 0 without gaps
  std::int64_t intended_ns = 0;  ///< when it was due by schedule; for sources without a pace, when it entered the queue
  std::int64_t pts_ns = 0;       ///< its place in the video, for people; nothing decides by it
  std::int64_t deadline_ns = 0;  ///< 0: none
  std::uint64_t payload = 0;     ///< the caller's handle
  std::int64_t entered_ns = 0;   ///< set by Dispatcher::offer
};

/// Why a frame has no result.
enum class DropReason : std::uint8_t {
  deadline,    ///< it could no longer be done in time
  queue_full,  ///< the queue was full, and the drop policy chose it
  timeout,     ///< its worker had not answered long after its deadline
  failed,      ///< its inference failed
  crashed,     ///< its worker died
  damaged,     ///< there was no picture in its file
  skipped,     ///< not every frame is to be inferred; that is no fault
  stopped,     ///< the run was stopped first; stays the last one
};
inline constexpr std::size_t kDropReasons = static_cast<std::size_t>(DropReason::stopped) + 1;

/// As users see it: "deadline", "queue_full", ...
[[nodiscard]] std::string_view to_string(DropReason reason) noexcept;

struct DroppedFrame {
  Frame frame;
  DropReason reason = DropReason::deadline;
};

}  // namespace ridgeline::stream
