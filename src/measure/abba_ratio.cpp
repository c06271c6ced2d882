// SPDX-License-Identifier: Apache-2.0
#include "measure/abba_ratio.hpp"

#include <array>

#include "stats/quantile.hpp"
#include "stats/rounds.hpp"

namespace ridgeline::measure {

double abba_log_ratio(const schema::PairedBlock* first) {
  std::array<double, 4> costs{};
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (first[i].latency_ns.empty()) return 0;
    costs[i] = stats::median(first[i].latency_ns);
  }
  return (first->arm == 'B' ? 1 : -1) * stats::abba_log_ratio(costs);
}

}  // namespace ridgeline::measure
