// SPDX-License-Identifier: Apache-2.0
#include "stream/size_change.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "stats/quantile.hpp"

namespace ridgeline::stream {
namespace {

constexpr double kNoticed = 1e6;  // ns; what costs less is as likely the clock's or the system's doing

}  // namespace

std::optional<std::int64_t> size_change_cost(std::span<const WarmUpTimes> repeated,
                                             std::span<const WarmUpTimes> changed) {
  std::vector<double> more;
  double largest_ns = 0;
  for (const auto& [batch, times] : repeated) {
    largest_ns = stats::median({times.begin(), times.end()});
    for (const auto& other : changed) {
      if (other.batch != batch) continue;
      for (const auto time : other.times_ns) more.push_back(static_cast<double>(time) - largest_ns);
    }
  }
  if (more.empty()) return std::nullopt;
  const double cost_ns = stats::median(std::move(more));
  return cost_ns > std::max(largest_ns, kNoticed) ? std::optional(static_cast<std::int64_t>(cost_ns)) : std::nullopt;
}

}  // namespace ridgeline::stream
