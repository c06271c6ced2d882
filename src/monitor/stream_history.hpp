// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "schema/stream_progress.hpp"

namespace ridgeline::monitor {

/// The last readings of a stream, a fixed number of them.
class StreamHistory {
 public:
  /// Enough for half of a terminal of 500 columns.
  static constexpr std::size_t kLength = 500;

  void add(const schema::StreamProgress& progress);

  [[nodiscard]] std::size_t size() const noexcept { return readings_.size(); }
  /// Newest first; NaN: not yet there. Frames delivered a second, over about the last one.
  [[nodiscard]] float frames_per_s(std::size_t age) const;
  /// Milliseconds, of the last whole second.
  [[nodiscard]] float p99(std::size_t age) const;
  /// From the reading of that age, or the oldest that is kept, to the newest.
  [[nodiscard]] double seconds_back(std::size_t age) const;

 private:
  struct Reading {
    double at_s = 0;
    std::int64_t delivered = 0;
    float frames_per_s = 0;
    float p99 = 0;
  };
  [[nodiscard]] const Reading* at(std::size_t age) const;

  std::deque<Reading> readings_;
};

}  // namespace ridgeline::monitor
