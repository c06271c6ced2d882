// SPDX-License-Identifier: Apache-2.0
#include "stats/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace ridgeline::stats {

double abba_log_ratio(std::span<const double, 4> costs) noexcept {
  return (std::log(costs[0] / costs[1]) + std::log(costs[3] / costs[2])) / 2;
}

std::vector<int> counted_rounds(const std::vector<AbbaRoundMark>& abba_rounds) {
  std::vector<int> all;
  std::map<int, int> quiet;  // rounds with undisturbed ABBA rounds
  int last = 0;
  for (const auto& abba_round : abba_rounds) {
    all.push_back(abba_round.round);
    last = std::max(last, abba_round.round);
    if (!abba_round.disturbed) ++quiet[abba_round.round];
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
  for (const auto& abba_round : abba_rounds) {
    const auto found = abba_round.disturbed ? renumbered.end() : renumbered.find(abba_round.round);
    counted.push_back(found == renumbered.end() ? -1 : found->second);
    if (counted.back() >= 0) ++left;
  }
  return left >= kLeastQuietAbbaRounds || left == abba_rounds.size() ? counted : all;
}

double order_effect(std::span<const double> round_means) noexcept {
  if (round_means.size() < 2) return 0;
  double even = 0;
  double odd = 0;
  for (std::size_t round = 0; round < round_means.size(); ++round) (round % 2 == 0 ? even : odd) += round_means[round];
  const std::size_t odds = round_means.size() / 2;
  return (even / static_cast<double>(round_means.size() - odds) - odd / static_cast<double>(odds)) / 2;
}

}  // namespace ridgeline::stats
