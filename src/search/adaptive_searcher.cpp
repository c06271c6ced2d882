// SPDX-License-Identifier: Apache-2.0
#include "search/adaptive_searcher.hpp"

#include <algorithm>

namespace ridgeline::search {
namespace {

std::size_t most_trials(const SearchSpace& space) {
  // Above this size the search ends by itself long before a quarter.
  constexpr std::size_t kCounted = 500;
  const auto size = space.enumerate(kCounted).size();
  return std::max(AdaptiveSearcher::kFewestTrials,
                  static_cast<std::size_t>(AdaptiveSearcher::kLargestShare * static_cast<double>(size)));
}

}  // namespace

AdaptiveSearcher::AdaptiveSearcher(const SearchSpace& space, const SearcherOptions& options)
    : Strategy(space, options),
      factors_(make_factors(this->space(), options.learned)),
      screening_(this->space(), factors_, options.min_effect, options.seed),
      refinement_(this->space(), factors_, options.min_effect),
      most_trials_(most_trials(space)) {}

std::optional<Step> AdaptiveSearcher::next_step() {
  if (!screened_) {
    if (auto step = screening_.next(history())) return step;
    screened_ = true;
  }
  return refinement_.next(history());
}

std::optional<Proposal> AdaptiveSearcher::next() {
  while (!finished_ && history().proposals() < most_trials_) {
    auto step = next_step();
    if (!step) break;
    if (auto proposal = offer(std::move(*step))) return proposal;
  }
  finished_ = true;
  return std::nullopt;
}

/// The levels of one factor are planned together; nothing else is.
std::optional<Proposal> AdaptiveSearcher::next_beside() {
  while (!finished_ && history().proposals() < most_trials_) {
    auto step = screening_.next_planned();
    if (!step) break;
    if (auto proposal = offer(std::move(*step))) return proposal;
  }
  return std::nullopt;
}

std::optional<Proposal> AdaptiveSearcher::offer(Step step) {
  auto proposal = history().offer(step.configuration, step.stage, std::move(step.reason));
  if (proposal && history().knows_batch(proposal->configuration))
    proposal->stop_above = history().hopeless_above(step.race_margin);
  return proposal;
}

std::size_t AdaptiveSearcher::upcoming() const {
  if (finished_) return 0;
  const auto left = most_trials_ - std::min(most_trials_, history().proposals());
  return std::min(left, (screened_ ? 0 : screening_.upcoming()) + refinement_.upcoming());
}

}  // namespace ridgeline::search
