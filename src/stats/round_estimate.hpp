// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace ridgeline::stats {

/// A log ratio with its standard error and degrees of freedom.
struct LogEstimate {
  double location = 0;
  double error = 0;
  double freedom = 0;
};

/// Half width of its 95 % interval by Student's t.
[[nodiscard]] double half_width(const LogEstimate& estimate);

/// Standard deviation of log cost between processes that run the same thing (memory layout, page placement, clocks)
/// and between states of a machine that last longer than a run. Usual for a tended machine; careless harnesses see tens
/// of percent. With it two single runs tell differences from about 3.5 % on; smaller ones need compare_paired.
inline constexpr double kRunToRunStdev = 0.01;

/// What is known of sessions beforehand weighs as much as so many degrees of freedom.
inline constexpr double kSessionFreedom = 8;

/// An ABBA round's log ratio and the pair of sessions that it comes from.
struct RoundRatio {
  double log = 0;
  int round = 0;
};

/// How far log costs of two sessions of one configuration differ by which was made first, where no second round in
/// counterbalanced order tells: ResNet-50 on H200s took 2 to 3 % longer in one of the two.
inline constexpr double kOrderStdev = 0.02;

/// The mean log ratio of ABBA rounds from `rounds` pairs of sessions made in counterbalanced order. Two
/// sessions of one configuration differ for as long as they live, so the ABBA rounds of one round are wrong together,
/// and by which was made first, so a round is wrong the other way than the next (order_effect is taken out). From
/// kScatterRounds on the interval is that over the rounds' means (analysis of variance with the order as its factor),
/// or that over all ABBA rounds where it is wider. With `session_stdev`, of log cost between sessions of one
/// configuration, the rounds' variance is moderated (Smyth 2004): the weighted mean of theirs and of what it makes
/// expect, as if that had kSessionFreedom degrees of freedom. Simulated (benchmarks/results/session_scatter.md), four
/// to twelve rounds then cover at 95 % up to sessions that differ by 1.5 %, and find 3 % in 79 to 99 % where they
/// differ by 1 % (in 55 to 99 % without). Fewer rounds say nothing of the scatter: session_stdev takes its place, at
/// least kRunToRunStdev, and of a lone round that and kOrderStdev. `rounds` 0: no sessions were made, the ABBA rounds
/// speak alone. nullopt below two ratios.
[[nodiscard]] std::optional<LogEstimate> estimate_of_rounds(const std::vector<RoundRatio>& ratios, int rounds,
                                                            double session_stdev = 0);

/// The variance of log cost between sessions of one configuration.
struct SessionScatter {
  double variance = 0;  ///< an unbiased estimate, which may be below 0 where sessions hardly differ
  double freedom = 0;
};
/// What rounds differ by, less their order's effect and what their ABBA rounds' scatter explains, halved, as a round
/// has two sessions (variance components of a one-way layout: Searle, Casella and McCulloch 1992, chapter 3). nullopt
/// below kScatterRounds rounds of two ABBA rounds.
[[nodiscard]] std::optional<SessionScatter> session_scatter(const std::vector<RoundRatio>& ratios);

/// The same of log ratios that each stand for a group of ABBA rounds, of whole rounds from kScatterRounds on. What the
/// order of the rounds does stays in, as groups may mix them: the interval is the wider for it.
[[nodiscard]] std::optional<LogEstimate> estimate_of_groups(const std::vector<double>& ratios, int rounds,
                                                            double session_stdev = 0);

}  // namespace ridgeline::stats
