// SPDX-License-Identifier: Apache-2.0
// What becomes of verdicts when the sessions of one configuration differ, simulated: comparisons over pairs of sessions
// (analysis::compare_paired with and without what is known of sessions on GPUs) and the neighbour check of several GPUs
// (campaign::check_trial_interference).
// Usage: session_scatter [runs per line, default 2000]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/comparison.hpp"
#include "campaign/tune/trial_interference.hpp"
#include "fakes/fake_gpu_pool.hpp"
#include "fakes/uneven_sessions.hpp"

namespace {

using namespace ridgeline;

constexpr double kTurn = 0.03;  // by which session is made first
constexpr double kMinEffect = 0.02;

double percent(int count, int of) { return 100.0 * count / of; }

void print_comparisons(int runs) {
  fmt::print(
      "Comparisons of six ABBA rounds (1 % noise) a pair of sessions, which differ by {:g} % by which was made first; "
      "with "
      "what is known of sessions on GPUs / without\n\n"
      "| sessions differ by | pairs | itself: interval misses 1 | itself: \"different\" | 3 % slower: found |\n"
      "|---:|---:|---:|---:|---:|\n",
      100 * kTurn);
  for (const double stdev : {0.005, 0.01, 0.015, 0.02, 0.03})
    for (const int rounds : {1, 2, 3, 4, 6, 8, 10, 12}) {
      int misses[2] = {};
      int different[2] = {};
      int found[2] = {};
      for (int run = 1; run <= runs; ++run) {
        const auto seed = static_cast<std::uint64_t>(run);
        const auto itself = fakes::with_turns(seed, rounds, kTurn, std::sqrt(2.0) * stdev);
        const auto slower = fakes::with_turns(seed, rounds, kTurn, std::sqrt(2.0) * stdev, 1.03);
        for (const int blind : {0, 1}) {
          const double known = blind != 0 ? 0 : analysis::kGpuSessionStdev;
          const auto same = analysis::compare_paired(itself, schema::Objective::latency, kMinEffect, known);
          misses[blind] += same.low > 1 || same.high < 1;
          different[blind] += same.verdict == schema::Verdict::slower || same.verdict == schema::Verdict::faster;
          found[blind] += analysis::compare_paired(slower, schema::Objective::latency, kMinEffect, known).verdict ==
                          schema::Verdict::slower;
        }
      }
      fmt::print("| {:.1f} % | {} | {:.1f} / {:.1f} % | {:.1f} / {:.1f} % | {:.0f} / {:.0f} % |\n", 100 * stdev, rounds,
                 percent(misses[0], runs), percent(misses[1], runs), percent(different[0], runs),
                 percent(different[1], runs), percent(found[0], runs), percent(found[1], runs));
    }
}

/// How many of the runs leave both GPUs to work side by side.
int side_by_side(int runs, double spread, double pace, double disturbance) {
  int both = 0;
  for (int run = 1; run <= runs; ++run) {
    const fakes::FakeClock clock;
    fakes::FakeGpuPool pool(clock, 2);
    pool.pace = {1, pace};
    pool.disturbance = {1, disturbance};
    pool.simple.noise = 0;
    pool.session_spread = spread;
    pool.luck = base::Random(static_cast<std::uint64_t>(run));
    std::vector<schema::TrialSpec> specs(2);
    for (std::size_t slot = 0; slot < 2; ++slot) specs[slot].device = fmt::format("gpu:{}", slot);
    const auto found = campaign::check_trial_interference(pool, specs, schema::Objective::latency, [] {
      return execute::TimeLeft{std::numeric_limits<double>::infinity(), 0};
    });
    if (!found) {
      fmt::print(stderr, "session_scatter: {}\n", found.error().message);
      std::exit(1);
    }
    both += found->slots.size() == 2;
  }
  return both;
}

void print_neighbours(int runs) {
  fmt::print(
      "\nNeighbour checks of two GPUs\n\n"
      "| sessions differ by | two sessions are more than 3 % apart | equal GPUs: not side by side | the second 10 % "
      "slower: side by side | disturbed by 10 %: side by side |\n|---:|---:|---:|---:|---:|\n");
  for (const double spread : {0.014, 0.02, 0.025, 0.03}) {
    // Of the difference of two normal logs.
    const double apart =
        std::erfc(std::log1p(campaign::Interference::kMost) / (std::sqrt(2.0) * spread) / std::sqrt(2.0));
    fmt::print("| {:.1f} % | {:.0f} % | {:.1f} % | {:.1f} % | {:.1f} % |\n", 100 * spread, 100 * apart,
               100 - percent(side_by_side(runs, spread, 1, 1), runs), percent(side_by_side(runs, spread, 1.1, 1), runs),
               percent(side_by_side(runs, spread, 1, 1.1), runs));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 2000;
  fmt::print("{} runs a line\n\n", runs);
  print_comparisons(runs);
  print_neighbours(runs);
  return 0;
}
