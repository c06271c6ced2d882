// SPDX-License-Identifier: Apache-2.0
#include "measure/quad_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ridgeline::measure {
namespace {

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

double quad_log_ratio(const schema::PairedBlock* first) {
  double sum = 0;
  for (const auto* block = first; block != first + 4; ++block)
    if (!block->latency_ns.empty()) sum += (block->arm == 'B' ? 0.5 : -0.5) * std::log(median_of(block->latency_ns));
  return sum;
}

}  // namespace ridgeline::measure
