// SPDX-License-Identifier: Apache-2.0
#include "stats/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace ridgeline::stats {

double quad_log_ratio(std::span<const double, 4> costs) noexcept {
  return (std::log(costs[0] / costs[1]) + std::log(costs[3] / costs[2])) / 2;
}

std::vector<int> counted_rounds(const std::vector<QuadMark>& quads) {
  std::vector<int> all;
  std::map<int, int> quiet;  // rounds with undisturbed quads
  int last = 0;
  for (const auto& quad : quads) {
    all.push_back(quad.round);
    last = std::max(last, quad.round);
    if (!quad.disturbed) ++quiet[quad.round];
  }
  std::map<int, int> renumbered;
  for (int round = 0; round <= last; round += 2) {
    const bool lone = round == last;  // the turn was not ended
    if (quiet.count(round) == 0 || (!lone && quiet.count(round + 1) == 0)) continue;
    const auto next = static_cast<int>(renumbered.size());
    renumbered[round] = next;
    if (!lone) renumbered[round + 1] = next + 1;
  }
  std::vector<int> counted;
  std::size_t left = 0;
  for (const auto& quad : quads) {
    const auto found = quad.disturbed ? renumbered.end() : renumbered.find(quad.round);
    counted.push_back(found == renumbered.end() ? -1 : found->second);
    if (counted.back() >= 0) ++left;
  }
  return left >= kLeastQuietQuads || left == quads.size() ? counted : all;
}

double turn_effect(std::span<const double> round_means) noexcept {
  if (round_means.size() < 2) return 0;
  double even = 0;
  double odd = 0;
  for (std::size_t round = 0; round < round_means.size(); ++round) (round % 2 == 0 ? even : odd) += round_means[round];
  const std::size_t odds = round_means.size() / 2;
  return (even / static_cast<double>(round_means.size() - odds) - odd / static_cast<double>(odds)) / 2;
}

}  // namespace ridgeline::stats
