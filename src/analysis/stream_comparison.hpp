// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "schema/stream_run.hpp"
#include "schema/tune_run.hpp"
#include "stats/interval.hpp"

namespace ridgeline::analysis {

/// One number of two streams. The unit of repetition is a second of a run: its value of each, in batches of consecutive
/// seconds (stats::batch_mean).
struct StreamFigure {
  std::string name;  ///< "throughput", "p50", "p95", "p99"
  stats::Estimate a;
  stats::Estimate b;
  schema::Comparison comparison;  ///< B over A, above 1: B is better
};
RL_DECLARE_JSON(StreamFigure)

/// Shares of the frames, and by how much B's is higher.
struct StreamDrops {
  double a = 0;
  double b = 0;
  double low = 0;  ///< 95 % interval of the difference
  double high = 0;
  bool is_known = false;  ///< there were seconds enough for an interval
  bool is_worse = false;  ///< B drops more, by kLeastDrops at least
};
RL_DECLARE_JSON(StreamDrops)

struct StreamComparison {
  /// The figure that decides: throughput, or where frames have a pace p99, or the percentile that both have frames
  /// enough for (stats::samples_needed) often enough.
  std::string objective;
  std::vector<StreamFigure> figures;
  StreamDrops drops;
  std::int64_t seconds_a = 0;  ///< that count
  std::int64_t seconds_b = 0;
  std::int64_t frames_a = 0;  ///< that were delivered
  std::int64_t frames_b = 0;
  schema::Comparison total;  ///< the objective's; slower also where B drops more
};
RL_DECLARE_JSON(StreamComparison)

/// With fewer seconds there is no interval, and no verdict.
inline constexpr std::size_t kLeastSeconds = 3;
/// Of all frames: less is no difference.
inline constexpr double kLeastDrops = 0.001;

/// B against A by the seconds of their time lines. The first one, which fills the pipeline, and a last one that was
/// none do not count.
[[nodiscard]] StreamComparison compare_streams(const schema::StreamRun& a, const schema::StreamRun& b,
                                               double min_effect);

}  // namespace ridgeline::analysis
