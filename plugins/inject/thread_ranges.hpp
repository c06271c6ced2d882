// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "range_names.hpp"
#include "tracefile/events.hpp"

namespace ridgeline::inject {

/// The ranges of one thread: those that are open, which only it knows, and those that have ended, which the recorder
/// takes.
class ThreadRanges {
 public:
  struct Ended {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t name = 0;  ///< of RangeNames
    trace::RangeKind kind = trace::RangeKind::annotation;
  };

  explicit ThreadRanges(std::int64_t thread) : thread_(thread) {}
  [[nodiscard]] std::int64_t thread() const noexcept { return thread_; }

  /// `domain`: of NVTX, whose ranges nest by themselves; nullptr: the usual one. `kept`: it is to be recorded.
  void push(std::uint32_t name, trace::RangeKind kind, const void* domain, std::int64_t now_ns, bool kept);
  /// The innermost of the domain. Returns its name; 0 where none is open.
  std::uint32_t pop(const void* domain, std::int64_t now_ns);
  /// Those of that name that are open are to be recorded, from now on if they were not.
  void keep(std::uint32_t name, std::int64_t now_ns);
  /// One that began on any thread.
  void add(const Ended& ended);
  /// Those that are open, from the outside in, as trace::GraphNode::path has them; by that thread.
  [[nodiscard]] std::string path(RangeNames& names) const;
  /// How many are open.
  [[nodiscard]] std::size_t depth() const noexcept { return open_.size(); }
  /// Whether one that is to be recorded is open; from any thread.
  [[nodiscard]] bool has_kept() const noexcept { return kept_.load(std::memory_order_relaxed) > 0; }

  /// Those that ended since the last call; from another thread.
  [[nodiscard]] std::vector<Ended> take();
  /// Those that are open end now. Only when the thread does nothing any more.
  void end_all(std::int64_t now_ns);

 private:
  struct Open {
    Ended range;
    const void* domain = nullptr;
    bool kept = false;
  };

  void count_kept(int more) noexcept;

  const std::int64_t thread_;
  std::vector<Open> open_;
  std::atomic<int> kept_ = 0;  ///< of open_
  std::mutex mutex_;           ///< of ended_
  std::vector<Ended> ended_;
};

}  // namespace ridgeline::inject
