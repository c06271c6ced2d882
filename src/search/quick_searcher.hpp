// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "search/factor.hpp"
#include "search/strategy.hpp"

namespace ridgeline::search {

/// At most kMostTrials trials: the default, the current configuration, a few thread counts, one best guess for each of
/// the most influential other parameters on top of the best thread count, and the combination of what helped. On a GPU
/// bindings with and without a CUDA graph take the place of the thread counts, and it is kMostGpuTrials.
class QuickSearcher : public Strategy {
 public:
  static constexpr std::size_t kMostTrials = 13;
  static constexpr std::size_t kThreadTrials = 4;
  static constexpr std::size_t kGuesses = 6;
  static constexpr std::size_t kMostGpuTrials = 10;  ///< eight, a current configuration, and a binding if no graph works
  static constexpr std::size_t kBindingTrials = 2;
  static constexpr std::size_t kGpuGuesses = 4;

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
  [[nodiscard]] bool is_needless(const Guess& guess) const;

  std::vector<Factor> factors_;
  std::vector<Guess> threads_;  ///< or bindings: what decides how everything else acts
  std::vector<Guess> guesses_;
  std::size_t thread_at_ = 0;
  std::size_t guess_at_ = 0;
  std::optional<schema::Configuration> base_;  ///< what the guesses change, chosen after the thread trials
  bool combined_ = false;
};

}  // namespace ridgeline::search
