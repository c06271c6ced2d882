// SPDX-License-Identifier: Apache-2.0
#include "search/quick_searcher.hpp"

#include <algorithm>

namespace ridgeline::search {
namespace {

using schema::Configuration;
using schema::TrialStage;

/// Losing trials end here: a quick answer needs no precise figure of what is 25 % slower.
constexpr double kRaceMargin = 0.25;

/// The allowed levels spread evenly, always with the last (the most threads).
std::vector<std::size_t> spread(const std::vector<std::size_t>& levels, std::size_t most) {
  if (levels.size() <= most) return levels;
  std::vector<std::size_t> picked;
  for (std::size_t i = 1; i <= most; ++i) picked.push_back(levels[i * levels.size() / most - 1]);
  return picked;
}

/// The level most likely to win: the mildest step down of graph optimization, the largest batch on a GPU, else the
/// middle candidate.
std::size_t best_guess(const Factor& factor, bool gpu) {
  if (gpu && factor.name == "batch_size") return factor.levels.size() - 1;
  for (const auto* mild : {"extended", "HEURISTIC"})
    for (std::size_t level = 1; level < factor.levels.size(); ++level)
      if (factor.levels[level].values().begin()->second == schema::Value(mild)) return level;
  return (factor.levels.size()) / 2;
}

bool replays_graph(const Configuration& settings) {
  return settings.contains("enable_cuda_graph") || settings.contains("trt_cuda_graph_enable");
}

}  // namespace

QuickSearcher::QuickSearcher(const SearchSpace& space, const SearcherOptions& options)
    : Strategy(space, options), factors_(make_factors(space)) {
  const bool gpu = searches_gpu(space);
  const auto most_guesses = gpu ? kGpuGuesses : kGuesses;
  for (std::size_t at = 0; at < factors_.size(); ++at) {
    const auto& factor = factors_[at];
    if (factor.is_threads && threads_.empty()) {
      std::vector<std::size_t> allowed;
      for (std::size_t level = 1; level < factor.levels.size(); ++level)
        if (space.allows(factor.apply(space, {}, level))) allowed.push_back(level);
      for (const auto level : spread(allowed, kThreadTrials)) threads_.push_back({at, level});
    } else if (factor.is_binding) {
      const auto levels = promising_bindings(factor);
      for (const auto level : levels)
        if (threads_.size() < kBindingTrials) threads_.push_back({at, level});
      const auto plain = std::find_if(levels.begin(), levels.end(),
                                      [&](std::size_t level) { return !replays_graph(factor.levels[level]); });
      if (plain != levels.end() && threads_.size() == kBindingTrials) threads_.push_back({at, *plain});
    } else if (guesses_.size() < most_guesses) {
      guesses_.push_back({at, best_guess(factor, gpu)});
    }
  }
}

Configuration QuickSearcher::base() const {
  const auto* from = history().foundation(options().min_effect / 2);
  return from != nullptr ? from->configuration : space().defaults();
}

std::optional<Proposal> QuickSearcher::next() {
  const auto propose = [&](const Guess& guess, const Configuration& from) {
    const auto& factor = factors_[guess.factor];
    auto proposal = history().offer(factor.apply(space(), from, guess.level), TrialStage::screening,
                                    "best guess for " + factor.name);
    if (proposal) proposal->abandon_above = history().hopeless_above(kRaceMargin);
    return proposal;
  };
  while (thread_at_ < threads_.size()) {
    const auto& guess = threads_[thread_at_++];
    if (is_needless(guess)) continue;
    if (auto proposal = propose(guess, space().defaults())) return proposal;
  }
  // A trial on a GPU is short, and its settings act on each other more: there each guess builds on what helped so far.
  if (!base_ || searches_gpu(space())) base_ = base();
  while (guess_at_ < guesses_.size())
    if (auto proposal = propose(guesses_[guess_at_++], *base_)) return proposal;
  return combination();
}

/// Binding without a graph only counts when no graph has helped.
bool QuickSearcher::is_needless(const Guess& guess) const {
  const auto& factor = factors_[guess.factor];
  return factor.is_binding && !replays_graph(factor.levels[guess.level]) && replays_graph(base());
}

std::optional<Proposal> QuickSearcher::combination() {
  if (combined_) return std::nullopt;
  combined_ = true;
  const auto* before = history().find(*base_);
  auto combined = *base_;
  for (const auto& guess : guesses_) {
    const auto& factor = factors_[guess.factor];
    const auto* seen = history().find(factor.apply(space(), *base_, guess.level));
    if (seen == nullptr || !seen->observation.cost || seen->observation.abandoned) continue;
    if (before == nullptr || !before->observation.cost || *seen->observation.cost < *before->observation.cost)
      combined = factor.apply(space(), combined, guess.level);
  }
  return history().offer(combined, TrialStage::search, "what helped, combined");
}

std::size_t QuickSearcher::upcoming() const {
  return (threads_.size() - thread_at_) + (guesses_.size() - guess_at_) + (combined_ ? 0 : 1);
}

}  // namespace ridgeline::search
