// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "stream/frame.hpp"

namespace ridgeline::stream {

/// What became of one frame: a result under frame.payload, or a gap with its reason.
struct FrameResult {
  Frame frame;
  std::optional<DropReason> dropped{};
  std::uint32_t batch = 0;       ///< frames that were executed with it; 0 when it was not executed
  std::int64_t launched_ns = 0;  ///< 0 when it was not executed
  std::int64_t done_ns = 0;      ///< when its result came, or it was dropped
  std::int64_t left_ns = 0;      ///< when those before it had come too; set by who takes it
};

/// Brings results and drops, which come in any order, into the order of sequence numbers, one source independent of
/// the others. Each frame that comes in is announced first, so that one that was never announced, or that comes twice,
/// is an error. O(1) a frame, amortized; at most `window` frames of a source are out of order or awaited at once. Not
/// thread-safe.
class ResultOrder {
 public:
  explicit ResultOrder(std::size_t window);

  /// Whether another frame of that source can be announced.
  [[nodiscard]] bool has_room(std::uint32_t source) const noexcept;
  /// internal unless it is the source's next number and there is room.
  [[nodiscard]] base::Result<void> announce(std::uint32_t source, std::uint64_t sequence);
  /// Appends to `out` what may leave now: nothing, or this result and those that waited for it. internal for a frame
  /// that was not announced or that came before.
  [[nodiscard]] base::Result<void> put(const FrameResult& result, std::vector<FrameResult>& out);

  /// Frames announced that have not left.
  [[nodiscard]] std::size_t awaited() const noexcept { return awaited_; }
  /// Results that wait for one before them.
  [[nodiscard]] std::size_t held() const noexcept { return held_; }

 private:
  struct Source {
    std::uint64_t next = 0;                        ///< the next number to leave
    std::uint64_t announced = 0;                   ///< one more than the last announced
    std::vector<std::optional<FrameResult>> ring;  ///< a power of two of places; number n is at n mod its size
  };

  Source& source_of(std::uint32_t source);

  std::size_t window_;
  std::vector<Source> sources_;
  std::size_t awaited_ = 0;
  std::size_t held_ = 0;
};

}  // namespace ridgeline::stream
