// SPDX-License-Identifier: Apache-2.0
#include "search/recipe_searcher.hpp"

#include <algorithm>

#include "search/messages.hpp"
#include "search/quick_searcher.hpp"
#include "search/relevance.hpp"

namespace ridgeline::search {

using schema::Configuration;

RecipeSearcher::RecipeSearcher(const SearchSpace& space, const SearcherOptions& options,
                               std::vector<Configuration> recipes, bool refines)
    : Strategy(space, options),
      factors_(make_factors(this->space(), options.learned)),
      recipes_(std::move(recipes)),
      refinement_(this->space(), factors_, options.min_effect),
      refines_(refines) {}

Configuration RecipeSearcher::cooked(const Configuration& recipe) const {
  const auto* best = history().incumbent(options().min_effect / 2);
  auto configuration = best != nullptr ? best->configuration : space().defaults();
  for (const auto& [key, value] : recipe.values()) {
    const auto* dimension = space().dimension(key);
    if (dimension == nullptr) continue;
    if (is_default(key, value))
      configuration.unset(key);
    else if (std::find(dimension->values.begin(), dimension->values.end(), value) != dimension->values.end())
      configuration.set(key, value);
  }
  return configuration;
}

std::optional<Proposal> RecipeSearcher::next() {
  while (at_ < recipes_.size()) {
    const auto& recipe = recipes_[at_++];
    auto proposal =
        history().offer(cooked(recipe), schema::TrialStage::screening, messages::best_with(recipe.to_text()));
    if (!proposal) continue;
    proposal->stop_above = history().hopeless_above(kRaceMargin);
    return proposal;
  }
  while (refines_) {
    auto step = refinement_.next(history());
    if (!step) break;
    auto proposal = history().offer(step->configuration, step->stage, std::move(step->reason));
    if (!proposal) continue;
    proposal->stop_above = history().hopeless_above(step->race_margin);
    return proposal;
  }
  return std::nullopt;
}

std::size_t RecipeSearcher::upcoming() const { return recipes_.size() - at_ + (refines_ ? refinement_.upcoming() : 0); }

}  // namespace ridgeline::search
