// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/catalog.hpp"
#include "search/factor.hpp"
#include "search/refinement.hpp"
#include "search/strategy.hpp"

namespace ridgeline::search {

/// For spaces whose strong settings are known and slow to try (torch.compile takes up to minutes): the default and the
/// current configuration, then the complete recipes, then the others on top of the best so far (schema::TorchRecipes),
/// then Refinement, then the recipes that are kept for last. Where the first complete recipe does not run, what it is
/// called with or the rest of it is left out of the others. Clear losers may be stopped early.
class RecipeSearcher final : public Strategy {
 public:
  RecipeSearcher(const SearchSpace& space, const SearcherOptions& options, schema::TorchRecipes recipes, bool refines);
  [[nodiscard]] bool is_opening() const override { return at_ < recipes_.complete.size() + recipes_.on_best.size(); }
  [[nodiscard]] std::vector<schema::Configuration> foreseen() const override;
  /// The complete recipes but the first, which says what runs here.
  [[nodiscard]] std::vector<schema::Configuration> in_any_order() const override;
  void prefer(const std::vector<schema::Configuration>& first) override;

 private:
  std::optional<Proposal> next() override;
  [[nodiscard]] std::size_t upcoming() const override;
  /// The recipe on top of that, as far as the space has its settings.
  [[nodiscard]] schema::Configuration cooked(schema::Configuration base, const schema::Configuration& recipe) const;
  [[nodiscard]] schema::Configuration complete(const schema::Configuration& recipe) const;
  [[nodiscard]] schema::Configuration on_best(const schema::Configuration& recipe) const;
  /// What of the first recipe does not run here: of how it is called, or of itself. Empty: it runs, or is not known
  /// yet.
  [[nodiscard]] schema::Configuration refused() const;
  /// The first recipe has not run, and nobody knows why.
  [[nodiscard]] bool is_to_be_narrowed_down() const;
  [[nodiscard]] bool has_failed(const schema::Configuration& configuration) const;
  /// The space has it, and it was not tried yet.
  [[nodiscard]] bool is_open(const schema::Configuration& configuration) const;

  std::vector<Factor> factors_;
  schema::TorchRecipes recipes_;
  Refinement refinement_;
  std::size_t at_ = 0;
  std::size_t at_last_ = 0;
  bool refines_;
};

}  // namespace ridgeline::search
