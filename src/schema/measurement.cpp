// SPDX-License-Identifier: Apache-2.0
#include "schema/measurement.hpp"

#include <cstddef>

namespace ridgeline::schema {

double turn_effect(std::span<const double> round_means) noexcept {
  if (round_means.size() < 2) return 0;
  double even = 0;
  double odd = 0;
  for (std::size_t round = 0; round < round_means.size(); ++round) (round % 2 == 0 ? even : odd) += round_means[round];
  const std::size_t odds = round_means.size() / 2;
  return (even / static_cast<double>(round_means.size() - odds) - odd / static_cast<double>(odds)) / 2;
}

}  // namespace ridgeline::schema
