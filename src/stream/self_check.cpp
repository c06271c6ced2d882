// SPDX-License-Identifier: Apache-2.0
#include "stream/self_check.hpp"

#include <cmath>
#include <utility>

#include "stream/messages.hpp"

namespace ridgeline::stream {
namespace {

constexpr double kLittleLimit = 0.02;
constexpr double kStagesLimit = 0.01;

/// |a - b| as a share of `whole`; 0 when both are 0.
double apart(double a, double b, double whole) {
  if (a == b) return 0;
  return whole == 0 ? 1 : std::abs(a - b) / whole;
}

SelfCheck verdict(double value, double limit, schema::Message message) {
  return {value, limit, value <= limit, std::move(message)};
}

}  // namespace

SelfCheck check_counts(std::uint64_t offered, std::uint64_t delivered, std::uint64_t dropped, std::uint64_t in_flight) {
  const auto accounted = delivered + dropped + in_flight;
  return verdict(apart(static_cast<double>(offered), static_cast<double>(accounted), static_cast<double>(offered)), 0,
                 messages::check_counts({.offered = static_cast<std::int64_t>(offered),
                                         .delivered = static_cast<std::int64_t>(delivered),
                                         .dropped = static_cast<std::int64_t>(dropped),
                                         .in_flight = static_cast<std::int64_t>(in_flight)}));
}

SelfCheck check_little(double mean_in_pipeline, double rate_per_s, double mean_time_ns) {
  const double product = rate_per_s * mean_time_ns * 1e-9;
  return verdict(apart(mean_in_pipeline, product, mean_in_pipeline), kLittleLimit,
                 messages::check_little(
                     {.frames = mean_in_pipeline, .per_s = rate_per_s, .time = mean_time_ns, .product = product}));
}

SelfCheck check_stages(double stages_ns, double end_to_end_ns) {
  return verdict(apart(stages_ns, end_to_end_ns, end_to_end_ns), kStagesLimit,
                 messages::check_stages({.stages = stages_ns, .end_to_end = end_to_end_ns}));
}

}  // namespace ridgeline::stream
