// SPDX-License-Identifier: Apache-2.0
#include "measure/quad_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <boost/math/distributions/students_t.hpp>

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

double half_width(const std::vector<double>& values) {
  if (values.size() < 2) return std::numeric_limits<double>::infinity();
  const auto count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const boost::math::students_t student(count - 1);
  return boost::math::quantile(student, 0.975) * std::sqrt(squares / (count - 1) / count);
}

}  // namespace ridgeline::measure
