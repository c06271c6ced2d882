// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/time_forecast.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace ridgeline::campaign {
namespace {

constexpr double kSessionS = 0.3;        ///< loading the runtime and creating a session of a small model
constexpr std::size_t kMostLeftOut = 4;  ///< settings of a usual winner that are taken out once each

}  // namespace

TimeForecast forecast_time(const TuneRequest& request, std::size_t trials, std::size_t lanes) {
  TimeForecast out;
  out.trials = trials;
  if (request.finalists > 0) out.comparisons = request.finalists + (request.leave_one_out ? kMostLeftOut : 0);
  const auto& plan = request.plan;
  const auto& paired = request.paired;
  const auto rounds = static_cast<double>((trials + lanes - 1) / std::max<std::size_t>(lanes, 1));
  const auto pairs = static_cast<double>(out.comparisons);
  out.low_s = rounds * (kSessionS + plan.min_time_s) + (request.finalists > 0 ? paired.min_time_s : 0);
  const double most_pair_s = std::max(paired.max_time_s, paired.min_samples > 0 ? paired.min_samples_time_s : 0);
  out.high_s = rounds * (kSessionS + plan.warmup_max_s + plan.max_time_s) + pairs * (2 * kSessionS + most_pair_s);
  if (request.max_time) {
    out.limit_s = base::to_seconds(*request.max_time);
    out.low_s = std::min(out.low_s, *out.limit_s);
    out.high_s = std::min(out.high_s, *out.limit_s);
  }
  return out;
}

}  // namespace ridgeline::campaign
