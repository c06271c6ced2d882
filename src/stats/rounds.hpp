// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

// Two arms, interleaved: ABBA rounds of blocks (A B B A), in rounds of one pair of sessions each, made in
// counterbalanced order.
namespace ridgeline::stats {

/// Mean log ratio of an ABBA round's first arm over its second: of its four costs in the order they ran, the first and
/// the last of one arm. A linear drift of the machine cancels.
[[nodiscard]] double abba_log_ratio(std::span<const double, 4> costs) noexcept;

/// Undisturbed ABBA rounds that are enough to go without the others.
inline constexpr std::size_t kLeastQuietAbbaRounds = 4;

/// An ABBA round of a comparison: its round, and whether other processes disturbed it.
struct AbbaRoundMark {
  int round = 0;
  bool disturbed = false;
};
/// Which ABBA rounds count. A neighbour hurts two threads more than one, so that what was disturbed says little of a
/// quiet machine: of ABBA rounds that were not there are those that count, in rounds whose turn (two rounds in
/// counterbalanced order) is whole or the last, numbered anew; -1 for the others. Where that leaves fewer than
/// kLeastQuietAbbaRounds, all count.
[[nodiscard]] std::vector<int> counted_rounds(const std::vector<AbbaRoundMark>& abba_rounds);

/// Rounds from which on the scatter of sessions can be distinguished from chance: two are needed for what their order
/// does, two for the scatter.
inline constexpr int kScatterRounds = 4;

/// What being made first does to a session, from the mean log ratios of rounds in counterbalanced order: half of what
/// an even round has more than an odd one. 0 for fewer than two rounds.
[[nodiscard]] double order_effect(std::span<const double> round_means) noexcept;

/// `value` of a round without that effect.
[[nodiscard]] inline double without_order_effect(double value, int round, double effect) noexcept {
  return round % 2 == 0 ? value - effect : value + effect;
}

}  // namespace ridgeline::stats
