// SPDX-License-Identifier: Apache-2.0
#include "search/recipe_searcher.hpp"

#include <algorithm>

#include "search/messages.hpp"
#include "search/quick_searcher.hpp"
#include "search/relevance.hpp"

namespace ridgeline::search {

using schema::Configuration;

namespace {

constexpr std::size_t kMostForeseen = 6;  // of the refinement, which each trial may turn elsewhere

}  // namespace

RecipeSearcher::RecipeSearcher(const SearchSpace& space, const SearcherOptions& options, schema::TorchRecipes recipes,
                               bool refines)
    : Strategy(space, options),
      factors_(make_factors(this->space(), options.learned)),
      recipes_(std::move(recipes)),
      refinement_(this->space(), factors_, options.min_effect),
      refines_(refines) {}

Configuration RecipeSearcher::cooked(Configuration base, const Configuration& recipe) const {
  for (const auto& [key, value] : recipe.values()) {
    const auto* dimension = space().dimension(key);
    if (dimension == nullptr) continue;
    if (is_default(key, value))
      base.unset(key);
    else if (std::find(dimension->values.begin(), dimension->values.end(), value) != dimension->values.end())
      base.set(key, value);
  }
  return space().canonical(base);
}

Configuration RecipeSearcher::complete(const Configuration& recipe) const {
  auto settings = recipes_.calls;
  for (const auto& [key, value] : recipe.values()) settings.set(key, value);
  const auto left_out = refused();
  for (const auto& [key, value] : left_out.values()) settings.unset(key);
  return cooked(space().defaults(), settings);
}

Configuration RecipeSearcher::on_best(const Configuration& recipe) const {
  const auto* best = history().incumbent(options().min_effect / 2);
  return cooked(best != nullptr ? best->configuration : space().defaults(), recipe);
}

bool RecipeSearcher::has_failed(const Configuration& configuration) const {
  const auto* seen = history().find(configuration);
  return seen != nullptr && !seen->observation.cost;
}

bool RecipeSearcher::is_to_be_narrowed_down() const {
  auto first = recipes_.calls;
  for (const auto& [key, value] : recipes_.complete.front().values()) first.set(key, value);
  return has_failed(cooked(space().defaults(), first));
}

Configuration RecipeSearcher::refused() const {
  if (!is_to_be_narrowed_down()) return {};
  const auto plain = cooked(space().defaults(), recipes_.calls);
  if (history().find(plain) == nullptr) return {};
  return has_failed(plain) ? recipes_.calls : recipes_.complete.front();
}

bool RecipeSearcher::is_open(const Configuration& configuration) const {
  return space().allows(configuration) && !history().proposed(configuration);
}

std::vector<Configuration> RecipeSearcher::in_any_order() const {
  std::vector<Configuration> out;
  if (at_ == 0 || (is_to_be_narrowed_down() && is_open(cooked(space().defaults(), recipes_.calls)))) return out;
  for (auto at = at_; at < recipes_.complete.size(); ++at)
    if (auto configuration = complete(recipes_.complete[at]);
        is_open(configuration) && std::find(out.begin(), out.end(), configuration) == out.end())
      out.push_back(std::move(configuration));
  return out;
}

void RecipeSearcher::prefer(const std::vector<Configuration>& first) {
  if (in_any_order().empty()) return;
  const auto from = recipes_.complete.begin() + static_cast<std::ptrdiff_t>(at_);
  std::stable_partition(from, recipes_.complete.end(), [&](const auto& recipe) {
    return std::find(first.begin(), first.end(), complete(recipe)) != first.end();
  });
}

std::vector<Configuration> RecipeSearcher::foreseen() const {
  std::vector<Configuration> out;
  const auto add = [&](Configuration configuration) {
    if (is_open(configuration) && std::find(out.begin(), out.end(), configuration) == out.end())
      out.push_back(std::move(configuration));
  };
  add(space().defaults());
  add(options().current);
  const auto complete_ones = recipes_.complete.size();
  for (auto at = at_; at < complete_ones; ++at) add(complete(recipes_.complete[at]));
  // The rest goes from the best, which is not known before most of these were tried.
  if (at_ < complete_ones) return out;
  for (auto at = at_; at < complete_ones + recipes_.on_best.size(); ++at)
    add(on_best(recipes_.on_best[at - complete_ones]));
  if (refines_)
    for (auto& configuration : refinement_.foreseen(history(), kMostForeseen)) add(std::move(configuration));
  for (auto at = at_last_; at < recipes_.last.size(); ++at) add(on_best(recipes_.last[at]));
  return out;
}

std::optional<Proposal> RecipeSearcher::next() {
  const auto offered = [&](const Configuration& configuration, const Configuration& named) {
    auto proposal = history().offer(configuration, schema::TrialStage::screening, messages::best_with(named.to_text()));
    if (proposal) proposal->stop_above = history().hopeless_above(kRaceMargin);
    return proposal;
  };
  if (at_ > 0 && is_to_be_narrowed_down())
    if (auto proposal = offered(cooked(space().defaults(), recipes_.calls), recipes_.calls)) return proposal;
  const auto first_on_best = recipes_.complete.size();
  while (is_opening()) {
    const auto at = at_++;
    const auto& recipe = at < first_on_best ? recipes_.complete[at] : recipes_.on_best[at - first_on_best];
    if (auto proposal = offered(at < first_on_best ? complete(recipe) : on_best(recipe), recipe)) return proposal;
  }
  while (refines_) {
    auto step = refinement_.next(history());
    if (!step) break;
    auto proposal = history().offer(step->configuration, step->stage, std::move(step->reason));
    if (!proposal) continue;
    proposal->stop_above = history().hopeless_above(step->race_margin);
    return proposal;
  }
  while (at_last_ < recipes_.last.size()) {
    const auto& recipe = recipes_.last[at_last_++];
    if (auto proposal = offered(on_best(recipe), recipe)) return proposal;
  }
  return std::nullopt;
}

std::size_t RecipeSearcher::upcoming() const {
  return recipes_.complete.size() + recipes_.on_best.size() - at_ + (refines_ ? refinement_.upcoming() : 0) +
         recipes_.last.size() - at_last_;
}

}  // namespace ridgeline::search
