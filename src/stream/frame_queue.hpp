// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "stream/frame.hpp"
#include "stream/indexed_heap.hpp"

namespace ridgeline::stream {

/// What happens to a frame that comes to a full queue.
enum class DropPolicy {
  oldest,  ///< the oldest frame of the source that holds most leaves; for cameras
  newest,  ///< the newest one of that source does
  none,    ///< it waits outside (back-pressure); for files
};

enum class Admission {
  accepted,   ///< it is in the queue; with a drop policy another frame may have left
  refused,    ///< it was dropped itself
  must_wait,  ///< nothing has changed; offer it again once there is room
};

struct Admitted {
  Admission admission = Admission::accepted;
  std::optional<Frame> dropped{};  ///< the frame that left for it, or itself
};

/// The frames of all sources that wait for a worker: one bounded number over all of them, first in, first out within a
/// source, fair between sources. The next frame is that of the least served source (start-time fair queueing: Goyal,
/// Vin and Cheng 1997), so that a source that wants less than its even share gets all of it. O(log sources) a frame,
/// no allocation once it has been full. Not thread-safe.
class FrameQueue {
 public:
  /// At least one frame; shares are even only where there is a frame of room for each source.
  FrameQueue(std::size_t capacity, DropPolicy policy);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// Frames of one source that wait.
  [[nodiscard]] std::size_t held(std::uint32_t source) const noexcept;

  /// Whether a frame of that source can come in without another one leaving. Every open source that holds none keeps a
  /// place, so that no source fills the queue for the others.
  [[nodiscard]] bool has_room(std::uint32_t source) const noexcept;
  /// A source is open from its first frame on; one that has ended keeps no place any longer.
  void close(std::uint32_t source);
  /// Frames come by non-decreasing `entered_ns`.
  [[nodiscard]] Admitted push(const Frame& frame);
  /// Smaller than what is in: nothing leaves, but nothing comes in without another leaving.
  void set_capacity(std::size_t capacity) noexcept;

  /// The frame whose turn it is; the queue must not be empty.
  [[nodiscard]] const Frame& next() const noexcept;
  /// Takes it, counted as served to its source.
  Frame take();
  /// Takes it without counting, as it will not be served.
  Frame discard();

  /// The frame that has waited longest; the queue must not be empty.
  [[nodiscard]] const Frame& oldest() const noexcept;
  /// Takes that one without counting.
  Frame discard_oldest();
  /// The earliest deadline among the first frames of all sources; none when none has one. O(sources).
  [[nodiscard]] std::optional<std::int64_t> earliest_deadline() const noexcept;

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = std::numeric_limits<Index>::max();
  /// A frame is in two lists: of its source, and of all frames by age.
  struct Node {
    Frame frame;
    Index older = kNone;
    Index newer = kNone;
    Index older_of_all = kNone;
    Index newer_of_all = kNone;
  };
  struct Source {
    Index first = kNone;
    Index last = kNone;
    std::size_t held = 0;
    std::uint64_t served = 0;
    bool open = false;
  };
  struct Turn {
    std::uint64_t served;
    std::int64_t intended_ns;  ///< of its first frame: the older goes first among equally served
    std::uint32_t source;
    auto operator<=>(const Turn&) const = default;
  };
  struct Holding {
    std::size_t room_left;  ///< less for one that holds more, so that it comes first
    std::uint32_t source;
    auto operator<=>(const Holding&) const = default;
  };

  Source& open(std::uint32_t source);
  void append(const Frame& frame);
  Frame remove(Index at);
  /// Renews the source's places in both heaps after its first frame or number has changed.
  void reorder(std::uint32_t source);

  std::size_t capacity_;
  DropPolicy policy_;
  std::size_t size_ = 0;
  std::vector<Node> nodes_;
  std::vector<Index> free_;
  Index oldest_ = kNone;
  Index newest_ = kNone;
  std::vector<Source> sources_;
  std::size_t open_without_frames_ = 0;
  std::uint64_t served_ = 0;  ///< what the source served last had been served: where a source that had none begins
  IndexedHeap<Turn> turns_;
  IndexedHeap<Holding> holdings_;
};

}  // namespace ridgeline::stream
