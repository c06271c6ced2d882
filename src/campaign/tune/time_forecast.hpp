// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "campaign/tune/tune_campaign.hpp"

namespace ridgeline::campaign {

/// How long a run may take, told before anything of it was measured.
struct TimeForecast {
  std::size_t trials = 0;         ///< that the search is likely to try
  std::size_t comparisons = 0;    ///< after it, at most
  double low_s = 0;               ///< where times are steady at once
  double high_s = 0;              ///< where none ever is
  std::optional<double> limit_s;  ///< --max-time, which both are within
  bool stored = false;            ///< the results file has runs of this model, whose trials take no time again
};

/// From the plans alone: a trial warms up and is timed for at least min_time_s and at most warmup_max_s + max_time_s, a
/// comparison likewise. `trials`: what the search is likely to try; `lanes`: how many run side by side, at least 1.
[[nodiscard]] TimeForecast forecast_time(const TuneRequest& request, std::size_t trials, std::size_t lanes);

}  // namespace ridgeline::campaign
