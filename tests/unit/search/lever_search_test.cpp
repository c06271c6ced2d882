// SPDX-License-Identifier: Apache-2.0
#include "search/lever_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ridgeline::search {
namespace {

using Combination = LeverSearch::Combination;

constexpr std::size_t kLevers = 5;
constexpr std::size_t kGrid = 1U << kLevers;

/// A training step of several parts, some of which hide behind others, and levers that make one part shorter or longer.
struct Training {
  double load = 1;  ///< by workers, beside the rest
  double copy = 0.1;
  double launch = 0.8;  ///< of the host, beside the GPU's work
  double compute = 0.9;
  double optimizer = 0.2;
  std::array<std::size_t, kLevers> part{};
  std::array<double, kLevers> times{};
  std::size_t first = 0;   ///< two that cannot be on at once ...
  std::size_t second = 0;  ///< ... or are the same, if there are none
  double discord = 1;      ///< times the step with levers 3 and 4

  [[nodiscard]] bool exclude(std::size_t one, std::size_t other) const {
    return first != second && ((one == first && other == second) || (one == second && other == first));
  }
  [[nodiscard]] double rate(const Combination& levers) const {
    std::array<double, 5> parts{load, copy, launch, compute, optimizer};
    for (const auto lever : levers) parts[part[lever]] *= times[lever];
    const double step = std::max(parts[0], parts[1] + std::max(parts[2], parts[3]) + parts[4]);
    return 1 / (step * (levers.count(3) != 0 && levers.count(4) != 0 ? discord : 1));
  }
};

Training some_training(base::Random& random, bool with_exclusive) {
  Training out;
  out.load = 0.3 + 1.5 * random.uniform();
  out.copy = 0.3 * random.uniform();
  out.launch = 0.2 + random.uniform();
  out.compute = 0.4 + random.uniform();
  out.optimizer = 0.05 + 0.3 * random.uniform();
  for (std::size_t lever = 0; lever < kLevers; ++lever) {
    out.part[lever] = random.below(5);
    out.times[lever] = random.uniform() < 0.2 ? 1 + 0.3 * random.uniform() : 0.3 + 0.7 * random.uniform();
  }
  if (with_exclusive) out.second = 1 + random.below(kLevers - 1);
  if (random.uniform() < 0.3) out.discord = 1 + 0.3 * random.uniform();
  return out;
}

std::vector<Combination> grid_of(const Training& training) {
  std::vector<Combination> out;
  for (std::size_t bits = 0; bits < kGrid; ++bits) {
    Combination combination;
    for (std::size_t lever = 0; lever < kLevers; ++lever)
      if ((bits >> lever & 1U) != 0) combination.insert(lever);
    if (!(combination.count(training.first) != 0 && combination.count(training.second) != 0 &&
          training.first != training.second))
      out.push_back(std::move(combination));
  }
  return out;
}

LeverSearch search_of(const Training& training, std::size_t most) {
  return LeverSearch(
      kLevers, [&](std::size_t a, std::size_t b) { return training.exclude(a, b); }, most);
}

struct Score {
  double near = 0;         ///< share of trainings within 2 % of the grid's best
  double time = 0;         ///< of all grids
  double most_trials = 0;  ///< of a grid
};

/// The search on random trainings against all combinations, with 1 % of noise in each trial.
Score score_of(bool with_exclusive, std::size_t most) {
  base::Random trainings(7);
  base::Random noise(8);
  constexpr int kTrainings = 2000;
  Score out;
  double grid_s = 0;
  double taken_s = 0;
  for (int i = 0; i < kTrainings; ++i) {
    const auto training = some_training(trainings, with_exclusive);
    double best = 0;
    const auto grid = grid_of(training);
    for (const auto& combination : grid) {
      grid_s += 1 / training.rate(combination);
      best = std::max(best, training.rate(combination));
    }
    auto search = search_of(training, most);
    double trials = 0;
    for (; const auto next = search.propose(); ++trials) {
      taken_s += 1 / training.rate(*next);
      search.observe(*next, training.rate(*next) * (1 + 0.01 * (2 * noise.uniform() - 1)));
    }
    out.most_trials = std::max(out.most_trials, trials / static_cast<double>(grid.size()));
    out.near += training.rate(search.best()) >= 0.98 * best ? 1.0 / kTrainings : 0;
  }
  out.time = taken_s / grid_s;
  return out;
}

TEST(LeverSearch, within_2_percent_of_a_grid_over_five_levers_in_35_percent_of_its_time) {
  const auto score = score_of(false, 0);
  EXPECT_GE(score.near, 0.95);
  EXPECT_LE(score.time, 0.35);
  EXPECT_LE(score.most_trials, 0.35);
}

TEST(LeverSearch, two_that_exclude_each_other_leave_a_smaller_grid) {
  const auto score = score_of(true, 0);
  EXPECT_GE(score.near, 0.93);
  EXPECT_LE(score.most_trials, 0.46);
}

TEST(LeverSearch, a_lever_that_helps_only_with_another_is_found) {
  Training training;
  training.load = 2;
  training.launch = 0;
  training.part = {0, 3, 1, 1, 1};
  training.times = {0.2, 0.5, 1, 1, 1};  // loading hides computing until the first is on
  auto search = search_of(training, 11);
  while (const auto next = search.propose()) search.observe(*next, training.rate(*next));
  EXPECT_EQ(search.best(), (Combination{0, 1}));
}

TEST(LeverSearch, of_two_that_exclude_each_other_the_better_is_on) {
  Training training;
  training.load = 0;
  training.launch = 0;
  training.part = {3, 3, 4, 1, 1};
  training.times = {0.6, 0.5, 0.5, 1, 1};
  training.first = 0;
  training.second = 1;
  auto search = search_of(training, 11);
  while (const auto next = search.propose()) {
    EXPECT_FALSE(next->count(0) != 0 && next->count(1) != 0);
    search.observe(*next, training.rate(*next));
  }
  EXPECT_EQ(search.best(), (Combination{1, 2}));
}

TEST(LeverSearch, what_fails_alone_is_in_no_combination) {
  const Training training;
  auto search = search_of(training, 20);
  while (const auto next = search.propose()) {
    EXPECT_TRUE(next->count(2) == 0 || next->size() == 1);
    search.observe(*next,
                   next->count(2) != 0 ? std::nullopt : std::optional(1.0 + 0.1 * static_cast<double>(next->size())));
  }
  EXPECT_EQ(search.best(), (Combination{0, 1, 3, 4}));
}

TEST(LeverSearch, without_a_gain_nothing_is_combined) {
  LeverSearch search(3, [](std::size_t, std::size_t) { return false; });
  int count = 0;
  while (const auto next = search.propose()) {
    ++count;
    search.observe(*next, 1.0);
  }
  EXPECT_EQ(count, 4);
  EXPECT_EQ(search.best(), Combination());
}

TEST(LeverSearch, without_a_trial_of_none_there_is_no_gain_to_speak_of) {
  LeverSearch search(2, [](std::size_t, std::size_t) { return false; });
  search.observe({}, std::nullopt);
  search.observe({0}, 2);
  search.observe({1}, 2);
  EXPECT_FALSE(search.propose());
}

}  // namespace
}  // namespace ridgeline::search
