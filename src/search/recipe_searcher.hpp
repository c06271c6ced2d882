// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "search/factor.hpp"
#include "search/refinement.hpp"
#include "search/strategy.hpp"

namespace ridgeline::search {

/// For spaces whose strong settings are known and slow to try (torch.compile takes up to minutes): the default and the
/// current configuration, then each recipe (schema::torch_recipes) on top of the best so far, then Refinement. Clear
/// losers may be stopped early.
class RecipeSearcher final : public Strategy {
 public:
  RecipeSearcher(const SearchSpace& space, const SearcherOptions& options, std::vector<schema::Configuration> recipes,
                 bool refines);
  [[nodiscard]] bool is_opening() const override { return at_ < recipes_.size(); }

 private:
  std::optional<Proposal> next() override;
  [[nodiscard]] std::size_t upcoming() const override;
  /// The recipe on top of the best so far, as far as the space has its settings.
  [[nodiscard]] schema::Configuration cooked(const schema::Configuration& recipe) const;

  std::vector<Factor> factors_;
  std::vector<schema::Configuration> recipes_;
  Refinement refinement_;
  std::size_t at_ = 0;
  bool refines_;
};

}  // namespace ridgeline::search
