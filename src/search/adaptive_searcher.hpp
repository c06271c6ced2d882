// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "search/factor.hpp"
#include "search/refinement.hpp"
#include "search/screening.hpp"
#include "search/strategy.hpp"

namespace ridgeline::search {

/// Default and current first, then Screening, then Refinement. Clear losers may be stopped early. Small spaces are
/// capped below a fifth of an exhaustive search.
class AdaptiveSearcher : public Strategy {
 public:
  static constexpr double kLargestShare = 0.19;     ///< of the space that is measured at most ...
  static constexpr std::size_t kFewestTrials = 12;  ///< ... where that leaves this many trials

  AdaptiveSearcher(const SearchSpace& space, const SearcherOptions& options);

 private:
  std::optional<Proposal> next() override;
  std::optional<Proposal> next_beside() override;
  std::optional<Proposal> offer(Step step);
  [[nodiscard]] std::size_t upcoming() const override;
  [[nodiscard]] std::optional<Step> next_step();

  std::vector<Factor> factors_;
  Screening screening_;
  Refinement refinement_;
  std::size_t most_trials_;
  bool screened_ = false;
  bool finished_ = false;
};

}  // namespace ridgeline::search
