// SPDX-License-Identifier: Apache-2.0
#include "search/quick_searcher.hpp"

#include <algorithm>

#include "search/messages.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;
using schema::TrialStage;

/// Losing trials end here: a quick answer needs no precise figure of what is 25 % slower.

/// The allowed levels spread evenly, always with the last (the most threads).
std::vector<std::size_t> spread(const std::vector<std::size_t>& levels, std::size_t most) {
  if (levels.size() <= most) return levels;
  std::vector<std::size_t> picked;
  for (std::size_t i = 1; i <= most; ++i) picked.push_back(levels[i * levels.size() / most - 1]);
  return picked;
}

}  // namespace

QuickSearcher::QuickSearcher(const SearchSpace& space, const SearcherOptions& options)
    : Strategy(space, options), factors_(make_factors(space, options.learned)) {
  for (std::size_t at = 0; at < factors_.size(); ++at) {
    const auto& factor = factors_[at];
    if (factor.is_threads && threads_.empty()) {
      std::vector<std::size_t> allowed;
      for (std::size_t level = 1; level < factor.levels.size(); ++level)
        if (space.allows(factor.apply(space, {}, level))) allowed.push_back(level);
      for (const auto level : spread(allowed, kThreadTrials)) threads_.push_back({at, level});
    } else if (guesses_.size() < kGuesses) {
      guesses_.push_back({at, likely_level(factor)});
    }
  }
}

Configuration QuickSearcher::base() const {
  const auto* from = history().incumbent(options().min_effect / 2);
  return from != nullptr ? from->configuration : space().defaults();
}

std::optional<Proposal> QuickSearcher::next() {
  const auto propose = [&](const Guess& guess, const Configuration& from) {
    const auto& factor = factors_[guess.factor];
    auto proposal = history().offer(factor.apply(space(), from, guess.level), TrialStage::screening,
                                    messages::best_guess(factor.name));
    if (proposal) proposal->stop_above = history().hopeless_above(kRaceMargin);
    return proposal;
  };
  if (!start_) start_ = start();
  while (thread_at_ < threads_.size()) {
    if (auto proposal = propose(threads_[thread_at_++], *start_)) return proposal;
  }
  if (!base_) base_ = base();
  while (guess_at_ < guesses_.size())
    if (auto proposal = propose(guesses_[guess_at_++], *base_)) return proposal;
  return combination();
}

std::optional<Proposal> QuickSearcher::combination() {
  if (combined_) return std::nullopt;
  combined_ = true;
  const auto* before = history().find(*base_);
  auto combined = *base_;
  for (const auto& guess : guesses_) {
    const auto& factor = factors_[guess.factor];
    const auto* seen = history().find(factor.apply(space(), *base_, guess.level));
    if (seen == nullptr || !seen->observation.cost || seen->observation.stopped_early) continue;
    if (before == nullptr || !before->observation.cost || *seen->observation.cost < *before->observation.cost)
      combined = factor.apply(space(), combined, guess.level);
  }
  return history().offer(combined, TrialStage::search, messages::what_helped_combined());
}

std::size_t QuickSearcher::upcoming() const {
  return (threads_.size() - thread_at_) + (guesses_.size() - guess_at_) + (combined_ ? 0 : 1);
}

}  // namespace ridgeline::search
