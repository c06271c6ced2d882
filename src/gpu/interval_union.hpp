// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace ridgeline::gpu {

/// The time that is covered by at least one of many intervals, which come roughly in order. Thread-safe.
class IntervalUnion {
 public:
  /// Intervals that end so long before the latest one are added up and forgotten; one that comes later still counts
  /// only from there on.
  static constexpr std::int64_t kWindowNs = 10'000'000'000;

  /// Nanoseconds of one clock; nothing happens where the end is not after the start.
  void add(std::int64_t start_ns, std::int64_t end_ns);
  /// Covered so far, in nanoseconds.
  [[nodiscard]] std::int64_t covered_ns() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::int64_t> parts_;  ///< start to end; apart from each other
  std::int64_t settled_ns_ = 0;                 ///< covered before `settled_until_`
  std::int64_t settled_until_ = INT64_MIN;
};

}  // namespace ridgeline::gpu
