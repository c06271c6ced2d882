// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "search/factor.hpp"
#include "search/strategy.hpp"

namespace ridgeline::search {

/// A trial this much slower than the best so far is given up in a race.
inline constexpr double kRaceMargin = 0.25;

/// At most kMostTrials trials: the default, the current configuration, a few thread counts, one best guess for each of
/// the most influential other parameters on top of the best thread count, and the combination of what helped.
class QuickSearcher : public Strategy {
 public:
  static constexpr std::size_t kMostTrials = 13;
  static constexpr std::size_t kThreadTrials = 4;
  static constexpr std::size_t kGuesses = 6;

  QuickSearcher(const SearchSpace& space, const SearcherOptions& options);

 private:
  struct Guess {
    std::size_t factor;
    std::size_t level;
  };
  std::optional<Proposal> next() override;
  [[nodiscard]] std::size_t upcoming() const override;
  [[nodiscard]] schema::Configuration base() const;
  std::optional<Proposal> combination();

  std::vector<Factor> factors_;
  std::vector<Guess> threads_;  ///< what decides how everything else acts
  std::vector<Guess> guesses_;
  std::size_t thread_at_ = 0;
  std::size_t guess_at_ = 0;
  std::optional<schema::Configuration> start_;  ///< what thread counts are tried on
  std::optional<schema::Configuration> base_;   ///< what the guesses change, chosen after the thread trials
  bool combined_ = false;
};

}  // namespace ridgeline::search
