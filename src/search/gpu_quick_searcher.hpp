// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "search/factor.hpp"
#include "search/strategy.hpp"

namespace ridgeline::search {

/// The order counts: ten seconds may be over after any trial. The default, the current configuration, all best guesses
/// at once on top of the most promising binding with a CUDA graph, that binding alone (a plain one when no graph works,
/// and the guesses on top of it), each guess (but fused biases) turned back or added on top of the best so far, and a
/// second binding with a graph. Ten trials at most.
class GpuQuickSearcher : public Strategy {
 public:
  GpuQuickSearcher(const SearchSpace& space, const SearcherOptions& options);

 private:
  enum class Step { opening, binding, plain_binding, together, guesses, second_binding, done };
  struct Guess {
    std::size_t factor;
    std::size_t level;
  };
  std::optional<Proposal> next() override;
  [[nodiscard]] std::size_t upcoming() const override;
  [[nodiscard]] std::optional<Proposal> take_step();
  /// What further trials change: the best so far, or a tie that is quicker to set up.
  [[nodiscard]] schema::Configuration base() const;
  [[nodiscard]] std::optional<Proposal> apply(const Guess& guess, const schema::Configuration& from);
  [[nodiscard]] std::optional<Proposal> apply_all_guesses(schema::Configuration from);
  [[nodiscard]] std::optional<Proposal> turn(const Guess& guess);
  /// The most promising binding that the best so far does not have, with or without a graph.
  [[nodiscard]] std::optional<Proposal> other_binding(bool graph);

  std::vector<Factor> factors_;
  std::vector<Guess> bindings_;  ///< the most promising first
  std::vector<Guess> guesses_;
  Step step_ = Step::opening;
  std::size_t guess_at_ = 0;
};

}  // namespace ridgeline::search
