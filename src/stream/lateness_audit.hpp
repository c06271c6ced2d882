// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "stats/latency_histogram.hpp"

namespace ridgeline::stream {

/// How late a load generator issued its frames, against the times that were fixed before the run. The load is late when
/// the 99.9th percentile exceeds 1 % of the SLO or 1 ms, whichever is less (1 ms without an SLO). A frame issued early
/// counts by how early it was. Not thread-safe.
class LatenessAudit {
 public:
  struct Verdict {
    bool is_late = false;
    std::int64_t p999_ns = 0;
    std::int64_t most_ns = 0;
    std::int64_t limit_ns = 0;
    std::uint64_t late_frames = 0;  ///< by more than the limit
  };

  /// slo_ns: 0 without one.
  explicit LatenessAudit(std::int64_t slo_ns) noexcept;
  void add(std::int64_t intended_ns, std::int64_t issued_ns);
  [[nodiscard]] Verdict verdict() const;

 private:
  std::int64_t limit_ns_;
  std::uint64_t late_frames_ = 0;
  stats::LatencyHistogram lateness_;
};

}  // namespace ridgeline::stream
