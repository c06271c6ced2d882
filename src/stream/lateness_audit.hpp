// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "stats/latency_histogram.hpp"

namespace ridgeline::stream {

/// How late a load generator issued its frames, against the times that were fixed before the run. The run is void when
/// the 99.9th percentile exceeds 1 % of the SLO or 1 ms, whichever is less (1 ms without an SLO): the load was then not
/// the one that is reported. A frame issued early counts by how early it was. Not thread-safe.
class LatenessAudit {
 public:
  struct Verdict {
    bool is_void = false;
    std::int64_t p999_ns = 0;
    std::int64_t limit_ns = 0;
    std::string message;  ///< for people, in either case
  };

  void add(std::int64_t intended_ns, std::int64_t issued_ns);
  /// slo_ns: 0 without one.
  [[nodiscard]] Verdict verdict(std::int64_t slo_ns) const;
  [[nodiscard]] const stats::LatencyHistogram& lateness() const noexcept { return lateness_; }

 private:
  stats::LatencyHistogram lateness_;
};

}  // namespace ridgeline::stream
