// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "search/factor.hpp"
#include "search/search_history.hpp"

namespace ridgeline::search {

/// log(cost) = constant + one effect a factor level, fitted by ridge regression in which configurations far slower than
/// the best count less. Says what an untried configuration may cost; interactions are the caller's uncertainty.
class AdditiveModel {
 public:
  /// Configurations with a value that is no candidate, failures and early-stopped trials far off the best are left out.
  AdditiveModel(const std::vector<Factor>& factors, const SearchHistory& history);

  /// Natural logarithm of the cost ratio of `level` to the factor's unset level.
  [[nodiscard]] double effect(std::size_t factor, std::size_t level) const { return effects_[factor][level]; }
  /// Whether any fitted configuration had that level.
  [[nodiscard]] bool known(std::size_t factor, std::size_t level) const { return known_[factor][level]; }

 private:
  std::vector<std::vector<double>> effects_;
  std::vector<std::vector<bool>> known_;
};

}  // namespace ridgeline::search
